// Opens pages in headless Chromium and uses them as people do.
//
// node browse.mjs FOLDER: tests/coverage/report.rs has written program.html, coverage.html, listing.html, comparison.html, markup.html, counters.html
// and nothing.html into the folder. Prints one line for each check that passes, and ends at the first one that fails.

import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const folder = process.argv[2];
const executablePath = process.env.COUNTERSINK_CHROMIUM ?? "/usr/bin/chromium";
const quiet = [
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-quic",
  "--no-first-run",
];
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", ...quiet] });

/** Opens a page and calls `use` with it. Any message on the console and any request is an error. */
async function open(name, use, options = {}, expected = []) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const address = pathToFileURL(`${folder}/${name}.html`).href;
  const said = [];
  page.on("console", (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => said.push(`error: ${error.stack}`));
  page.on("request", (request) => {
    const url = request.url();
    if (url.split("#")[0] !== address && url !== "data:,") said.push(`request: ${url}`);
  });
  page.on("dialog", (dialog) => said.push(`dialog: ${dialog.message()}`));
  await page.goto(address);
  await page.waitForSelector("html[data-ready]");
  await use(page);
  assert.equal(said.length, expected.length, `${name}: ${said.join("\n")}`);
  said.forEach((line, number) => assert.match(line, expected[number], name));
  await context.close();
  console.log(`${name}: ${use.name}`);
}

// A page draws after the event, so what a test looks at next need not be there at once.
const shown = (page, selector, text) => page.locator(selector, text && { hasText: text }).first().waitFor();
const hidden = (page, selector) => page.locator(selector).first().waitFor({ state: "hidden" });
const gone = (page, selector) => page.waitForFunction((part) => !document.querySelector(part), selector);

const texts = (page, selector) => page.locator(selector).allTextContents();
const names = (page) => texts(page, "#functions tbody th .name");

async function totals(page) {
  const tiles = await texts(page, "#totals dt");
  assert.ok(tiles.includes("Total count") && tiles.includes("Placed in the source"), tiles.join());
  assert.match(
    await page.locator("#curve p").first().textContent(),
    /90 % of all counts are in .+ of .+ places/,
  );
  assert.equal(await page.locator("#curve circle").count(), 2);
}

async function search(page) {
  const all = await names(page);
  assert.ok(all.length > 3);
  await page.keyboard.press("/");
  await page.keyboard.type("CALL shown.c");
  assert.deepEqual(await names(page), ["calls"]);
  assert.match(await page.locator("#functions [role=status]").textContent(), /^1 of \d+ functions$/);
  await page.fill("#search", "no such function");
  assert.deepEqual(await names(page), []);
  await page.fill("#search", "");
  assert.deepEqual(await names(page), all);
}

async function files(page) {
  const paths = () => texts(page, "#files tbody th .name");
  const ends = async () => (await paths()).map((path) => path.split("/").at(-1));
  assert.deepEqual(await ends(), ["half.c", "whole.c"], "least covered first");
  const cells = await texts(page, "#files tbody tr:first-child td");
  assert.deepEqual(cells, ["75.00\u202f% of 4", "50.00\u202f% of 2", "100.00\u202f% of 1", "1"]);
  await page.getByRole("button", { name: "Lines missed" }).click();
  assert.deepEqual(await ends(), ["half.c", "whole.c"]);
  await page.locator("#files").getByRole("button", { name: "File", exact: true }).press("Enter");
  assert.deepEqual(await ends(), ["half.c", "whole.c"]);
  await page.getByLabel("only files with lines that were not executed").check();
  assert.deepEqual(await ends(), ["half.c"]);
  assert.equal(await page.locator("#files [role=status]").textContent(), "1 of 2 files");
  await page.fill("#file-search", "whole");
  assert.deepEqual(await ends(), []);
  await page.getByLabel("only files with lines that were not executed").uncheck();
  assert.deepEqual(await ends(), ["whole.c"]);
}

async function wholeFile(page) {
  await page.locator("#files tbody a").first().press("Enter");
  await shown(page, "#function h2", /listed\.c$/);
  const line = (text) => page.locator(".whole .line", { hasText: text }).first();
  const cells = async (text) => (await line(text).locator("span").allTextContents()).join(" ");
  assert.equal(await cells("if (n > 5)"), "3 1 1/2");
  assert.equal(await cells("return 1"), "4 0 ");
  assert.equal(await cells("if (n > 4)"), "5 1 –");
  assert.equal(await cells("return 2"), "6 excluded ");
  assert.equal(await line("n < 9").locator(".ways").textContent(), "1/4");
  assert.match(await line("if (n > 5)").locator(".ways").getAttribute("title"), /^branch 1: not taken\nbranch 2: taken 1$/);
  assert.match(await line("if (n > 4)").locator(".ways").getAttribute("title"), /^2 excluded$/);
  const focused = () => page.evaluate(() => document.activeElement.querySelector(".no")?.textContent);
  const seen = [];
  for (const key of ["n", "n", "n", "n", "p"]) {
    await page.keyboard.press(key);
    seen.push(await focused());
  }
  assert.deepEqual(seen, ["4", "9", "11", "4", "11"]);
  assert.equal(await page.locator("#function [role=status]").textContent(), "3 of 3");
  const width = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(width[0] <= width[1], `the page is wider than the window: ${width}`);
  const code = await line("return 1").locator("code").boundingBox();
  assert.ok(code.x < width[1] / 2, "the text begins in the first half");
  assert.equal(await page.evaluate("window.pwned"), undefined);
  await page.keyboard.press("Escape");
  await shown(page, "#overview");
  assert.equal(await page.evaluate(() => location.hash), "#files");
}

async function sort(page) {
  const column = async (number) => {
    const cells = await texts(page, `#functions tbody td:nth-of-type(${number})`);
    return cells.map((cell) => Number(cell.replace(/[^\d.]/g, "")));
  };
  const falling = (numbers) => numbers.every((number, at) => at === 0 || numbers[at - 1] >= number);
  assert.ok(falling(await column(1)), "by share at first");
  const what = await page.getByRole("button", { name: "Head count" }).getAttribute("title");
  assert.match(what, /entered by a call of it/);
  for (const way of ["descending", "ascending"]) {
    await page.getByRole("button", { name: "Head count" }).click();
    const heads = await column(3);
    assert.ok(falling(way === "descending" ? heads : heads.toReversed()), `${way}: ${heads}`);
    assert.equal(await page.locator("#functions th[aria-sort]").getAttribute("aria-sort"), way);
  }
  await page.getByRole("button", { name: "Function", exact: true }).press("Enter");
  const sorted = await names(page);
  assert.deepEqual(sorted, sorted.toSorted());
}

async function zoom(page) {
  const crumbs = () => texts(page, ".crumbs li");
  assert.deepEqual(await crumbs(), ["All"]);
  const file = page.locator(".cell", { hasText: "shown.c" }).first();
  await file.click({ position: { x: 8, y: 8 } });
  assert.deepEqual(await crumbs(), ["All", "shown.c"]);
  assert.match(await page.locator("#map [aria-live]").textContent(), /^shown\.c: \d+ parts/);
  const focused = () => page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  const first = await focused();
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await focused(), first);
  await page.keyboard.press("Escape");
  assert.deepEqual(await crumbs(), ["All"]);
}

async function lines(page) {
  await page.locator("#functions tbody a", { hasText: "calls" }).first().click();
  await shown(page, "#function h2", /^calls$/);
  await hidden(page, "#overview");
  const line = (text) => page.locator("#function .line", { hasText: text }).first();
  assert.equal(await line("work[i % 3](i)").locator(".count").textContent(), "30\u202f000");
  // The compiler has removed its line: an estimate.
  assert.equal(await line("return -1").locator(".count").textContent(), "~0");
  assert.ok((await line("return -1").getAttribute("class")).includes("never"));
  assert.equal(await line("{").locator(".no").textContent(), "23");
  const targets = await texts(page, "#function .calls li");
  assert.deepEqual(targets, ["twice66.67\u202f%20\u202f000", "thrice33.33\u202f%10\u202f000"]);
  const folded = page.locator("details.inlined", { hasText: "folded" });
  assert.ok(!(await folded.locator(".line").first().isVisible()));
  await folded.locator("summary").press("Enter");
  await folded.locator(".line", { hasText: "</script><script>window.pwned = 2</script>" }).waitFor();
  await page.getByRole("button", { name: "Unfold inlined bodies" }).click();
  await gone(page, "details.inlined:not([open])");
  await page.keyboard.press("Escape");
  await shown(page, "#overview");
  await page.goBack();
  await shown(page, "#function h2", /^calls$/);
  assert.equal(await page.evaluate("window.pwned"), undefined);
}

async function startOrder(page) {
  const started = await texts(page, ".started .name");
  assert.equal(started[0], "main");
  assert.ok(
    started.indexOf("calls") < started.indexOf("twice") &&
      started.indexOf("twice") < started.indexOf("thrice"),
  );
  assert.equal(await page.locator(".strip rect").count(), started.length);
}

/** How well letters stand out, as WCAG defines it; 4.5 is enough. */
function contrasts() {
  const root = getComputedStyle(document.documentElement);
  const probe = document.body.appendChild(document.createElement("i"));
  const light = (name) => {
    probe.style.color = `var(--${name})`;
    const parts = getComputedStyle(probe)
      .color.match(/[\d.]+/g)
      .map((part) => Number(part) / 255);
    const [r, g, b] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const pairs = ["paper", "surface", "sunken"].flatMap((ground) =>
    ["ink", "soft", "accent", "up-ink", "down-ink"].map((ink) => [ink, ground]),
  );
  pairs.push(["ink", "hot"], ["ink", "cold"]);
  const all = pairs.map(([ink, ground]) => {
    const [most, least] = [light(ink), light(ground)].sort((a, b) => b - a);
    return [`${ink} on ${ground}`, (most + 0.05) / (least + 0.05)];
  });
  probe.remove();
  return { all, paper: root.getPropertyValue("color-scheme") };
}

async function themes(page) {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const enough = async (theme) => {
    const { all } = await page.evaluate(contrasts);
    const poor = all.filter(([, contrast]) => contrast < 4.5);
    assert.deepEqual(poor, [], theme);
  };
  await page.emulateMedia({ colorScheme: "light" });
  const light = await ground();
  await enough("light");
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await ground();
  assert.notEqual(light, dark);
  await enough("dark");
  const button = page.locator("#theme");
  await button.click();
  assert.equal(await button.textContent(), "Theme: light");
  assert.equal(await ground(), light);
  await button.press("Enter");
  assert.equal(await ground(), dark);
  await page.reload();
  await page.waitForSelector("html[data-ready]");
  assert.equal(await button.textContent(), "Theme: dark");
}

async function print(page) {
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  assert.ok(!(await page.locator("nav").first().isVisible()) && !(await page.locator("#search").isVisible()));
  assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), "light");
  const pdf = await page.pdf({ format: "A4" });
  assert.ok(pdf.length > 10_000 && pdf.subarray(0, 5).toString() === "%PDF-");
}

async function keyboard(page) {
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash === "#functions");
  // Every control has a name.
  const nameless = await page.evaluate(() =>
    [...document.querySelectorAll("a, button, input, summary, [tabindex='0']")]
      .filter((part) => !(part.textContent.trim() || part.getAttribute("aria-label") || part.labels?.length))
      .map((part) => part.outerHTML),
  );
  assert.deepEqual(nameless, []);
}

async function comparison(page) {
  assert.match(await page.locator(".overlap").textContent(), /\d+\.\d\d\u202f% of the counts overlap/);
  const hot = page.locator("#changes .two > div").first();
  assert.deepEqual(await hot.locator("tbody .name").allTextContents(), ["hot by night"]);
  const cold = page.locator("#changes .two > div").nth(1);
  assert.deepEqual(await cold.locator("tbody .name").allTextContents(), ["hot by day"]);
  const call = await texts(page, "#changes > div:last-child tbody tr > *");
  assert.deepEqual(call, ["mainline +2 from the declaration", "one", "two"]);
  await page.locator("#functions tbody a", { hasText: "main" }).click();
  await shown(page, "#function h2", /^main$/);
  assert.deepEqual(await texts(page, ".titles .count"), ["day", "night"]);
  assert.deepEqual(await texts(page, ".code .line:not(.titles) .count"), ["100", "100", "50", "50"]);
}

async function markup(page) {
  const functions = await names(page);
  for (const name of [
    "</script><script>window.pwned = 3</script>",
    "<img src=x onerror='window.pwned = 4'>",
    "turn\\u{202e}ed",
    "a&amp;b",
    "<!--<script>",
  ]) {
    assert.ok(functions.includes(name), `${name} in ${functions}`);
  }
  for (const number of functions.keys()) {
    await page.goto(`${page.url().split("#")[0]}#f${number}`);
    assert.ok(functions.includes(await page.locator("#function h2").textContent()));
  }
  assert.equal(await page.evaluate("window.pwned"), undefined);
  assert.equal(await page.locator("img, iframe, object, embed").count(), 0);
  // If markup did get in, the policy would stop it, and report it on the console, where the test listens.
  const stopped = await page.evaluate(
    () =>
      new Promise((resolve) => {
        document.addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective));
        document.body.append(Object.assign(document.createElement("object"), { data: "data:text/html,x" }));
      }),
  );
  assert.equal(stopped, "object-src");
}

async function counters(page) {
  assert.match(await page.locator(".notes").textContent(), /The page shows counters by number/);
  await page.locator("#functions tbody a", { hasText: "main" }).first().click();
  await shown(page, "#function h2", /^main$/);
  assert.match(await page.locator(".hash").first().textContent(), /Control flow 0x/);
  assert.deepEqual(await texts(page, ".code .count"), ["1", "4"]);
  assert.deepEqual(await texts(page, ".calls li"), ["twice75.00\u202f%3", "unknown25.00\u202f%1"]);
}

/** A page without counts says so. */
async function nothing(page) {
  assert.match(await page.locator("#curve p").first().textContent(), /^Nothing was executed/);
  assert.match(await page.locator("#map").textContent(), /Nothing was executed/);
  assert.doesNotMatch(await page.locator("main").innerText(), /undefined|null|NaN/);
}

const parts = { totals, search, sort, zoom, lines, startOrder, themes, print, keyboard };
for (const part of Object.values(parts)) await open("program", part);
await open("comparison", comparison);
await open("counters", counters);
await open("nothing", nothing);
await open("program", totals, { viewport: { width: 390, height: 800 } });
await open("coverage", files);
await open("listing", wholeFile);
await open("listing", wholeFile, { viewport: { width: 500, height: 800 } });
await open("markup", markup, {}, [/Content Security Policy/]);
await browser.close();
