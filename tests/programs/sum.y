/* Sums and products of numbers. A text in memory has many of them. */
%{
#include <ctype.h>
#include <stdio.h>
static const char *text;
static int yylex(void);
static void yyerror(const char *what) { puts(what); }
static long total;
%}
%define api.value.type {long}
%token NUMBER
%left '+'
%left '*'
%%
sums: sum | sums ';' sum;
sum: expression { $$ = total += $1; };
expression: NUMBER
    | expression '+' expression { $$ = $1 + $3; }
    | expression '*' expression { $$ = $1 * $3; }
    | '(' expression ')' { $$ = $2; }
    ;
%%
static int yylex(void)
{
    if (!isdigit((unsigned char)*text))
        return *text ? *text++ : 0;
    for (yylval = 0; isdigit((unsigned char)*text); text++)
        yylval = 10 * yylval + (*text - '0');
    return NUMBER;
}

int main(void)
{
    for (int i = 0; i < 100; i++) {
        text = "1+2*3;(4+5)*6+7;8;9*10+11";
        if (yyparse())
            return 1;
    }
    return total != 17700;
}
