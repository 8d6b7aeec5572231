/* Draws the glyphs of a font in several sizes, hinted by the font, by FreeType and not at all. Arguments: the
   font, number of glyphs, the smallest size in pixels. */
#include <ft2build.h>
#include FT_FREETYPE_H
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int count = atoi(argv[2]), size = argc > 3 ? atoi(argv[3]) : 10;
    static const FT_Int32 modes[] = { FT_LOAD_DEFAULT, FT_LOAD_FORCE_AUTOHINT, FT_LOAD_NO_HINTING };
    FT_Library library;
    FT_Face face;
    unsigned sum = 0;
    if (FT_Init_FreeType(&library) || FT_New_Face(library, argv[1], 0, &face))
        return 1;
    for (int mode = 0; mode < 3; mode++)
        for (int step = 0; step < 4; step++) {
            if (FT_Set_Pixel_Sizes(face, 0, size << step))
                return 1;
            for (int glyph = 0; glyph < count && glyph < face->num_glyphs; glyph++) {
                if (FT_Load_Glyph(face, glyph, modes[mode]) || FT_Render_Glyph(face->glyph, FT_RENDER_MODE_NORMAL))
                    return 1;
                FT_Bitmap *bitmap = &face->glyph->bitmap;
                for (unsigned y = 0; y < bitmap->rows; y++)
                    for (unsigned x = 0; x < bitmap->width; x++)
                        sum = sum * 31 + bitmap->buffer[(int)y * bitmap->pitch + (int)x];
                sum += face->glyph->advance.x;
            }
        }
    printf("%u\n", sum);
    FT_Done_Face(face);
    FT_Done_FreeType(library);
    return 0;
}
