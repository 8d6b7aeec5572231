/* As a generator of parsers writes it: actions of a grammar, with their lines in the grammar. */
static int values[64];

__attribute__((noipa)) int reduce(int rule, int top)
{
    int value = values[top];
    switch (rule) {
    case 2:
#line 31 "grammar.y"
        {
            value = values[top - 2] + values[top];
        }
#line 14 "grammar.c"
        break;
    case 3:
#line 35 "grammar.y"
        { value = values[top - 2] * values[top]; }
#line 19 "grammar.c"
        break;
    case 4:
#line 40 "grammar.y"
        {
            for (int i = 0; i < top; i++)
                value ^= values[i];
        }
#line 27 "grammar.c"
        break;
    default:
        break;
    }
    values[top] = value & 0xff;
    return value;
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 64; i++)
        values[i] = i;
    for (int i = 0; i < 1000; i++)
        sum += reduce(i % 5, 2 + i % 60);
    return sum == 0;
}
