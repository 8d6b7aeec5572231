// Takes the book's pictures: node pictures.mjs FOLDER, which has lua.html, sqlite.html, clipper.html and changes.html.
// `cwebp -q 80` makes the pictures of docs/src/report of what it writes into the folder.

import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const folder = process.argv[2];
const browser = await chromium.launch({
  executablePath: process.env.COUNTERSINK_CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});

/** A picture of a page, after something was done with it. */
async function picture(name, file, { dark = false, height = 760 }, prepare) {
  const page = await browser.newPage({
    viewport: { width: 1200, height },
    deviceScaleFactor: 1.5,
    colorScheme: dark ? "dark" : "light",
  });
  await page.goto(pathToFileURL(`${folder}/${file}.html`).href);
  await page.waitForSelector("html[data-ready]");
  await prepare(page);
  await page.waitForTimeout(200);
  await page.screenshot({ path: `${folder}/${name}.png` });
  await page.close();
}

const top = (page, selector) =>
  page
    .locator(selector)
    .first()
    .evaluate((part) => part.scrollIntoView());

await picture("lua-totals", "lua", { height: 800 }, async () => {});
await picture("lua-functions", "lua", {}, (page) => top(page, "#functions"));
await picture("sqlite-map", "sqlite", { dark: true, height: 720 }, (page) => top(page, "#map"));
await picture("lua-changes", "changes", { height: 820 }, async () => {});
await picture("clipper-lines", "clipper", { height: 820 }, async (page) => {
  await page.fill("#search", process.argv[3] ?? "ProcessEdgesAtTopOfScanbeam");
  await page.locator("#functions tbody a").first().click();
  await page.locator("details.inlined summary").first().click();
});
await browser.close();
