# What perl is trained with: words, records, numbers, closures and a parser.
use strict;
use warnings;

my $size = shift;
my $state = 1;
sub random { $state = ($state * 1103515245 + 12345) & 0x7fffffff; return ($state >> 8) % $_[0] }

# Strings, hashes, sorting and formats.
sub words {
    my @syllables = qw(ka lo mi ren su tor vi we);
    my %frequency;
    for (1 .. 3 * $size) {
        my $word = join '', map { $syllables[random(8)] } 0 .. random(3);
        $frequency{$word}++;
    }
    my $report = '';
    for my $word (sort { $frequency{$b} <=> $frequency{$a} || $a cmp $b } keys %frequency) {
        $report .= sprintf "%12s: %d\n", $word, $frequency{$word};
    }
    my $found = () = $report =~ /^\s*(?:ka|lo)\w*?mi:/mg;
    return length($report) . " $found";
}

package Account {
    sub new { my ($class, %given) = @_; return bless {balance => 0, %given}, $class }
    sub add { my ($self, $amount) = @_; $self->{balance} += $amount; return $self }
    sub balance { $_[0]{balance} }
}

package Savings {
    our @ISA = ('Account');
    sub add { my ($self, $amount) = @_; return $self->SUPER::add($amount - $amount % 5) }
}

# Objects and inheritance.
sub accounts {
    my @accounts = map { ($_ % 3 ? 'Account' : 'Savings')->new(number => $_) } 1 .. 20;
    $accounts[random(20)]->add(random(100)) for 1 .. $size;
    my $sum = 0;
    $sum += $_->balance for @accounts;
    return $sum;
}

# Arrays of numbers.
sub sieve {
    my $limit = 5 * $size;
    my @composite;
    for (my $n = 2; $n * $n < $limit; $n++) {
        next if $composite[$n];
        for (my $m = $n * $n; $m < $limit; $m += $n) { $composite[$m] = 1 }
    }
    return scalar grep { !$composite[$_] } 2 .. $limit - 1;
}

# Expressions, by regular expressions with positions, and recursion.
sub factor {
    my $text = shift;
    return $1 if $$text =~ /\G\s*(\d+)/gc;
    $$text =~ /\G\s*\(/gc or die 'syntax';
    my $value = total($text);
    $$text =~ /\G\s*\)/gc or die 'syntax';
    return $value;
}

sub product {
    my $text = shift;
    my $value = factor($text);
    while ($$text =~ m{\G\s*([*/])}gc) {
        my $operator = $1;
        my $other = factor($text);
        $value = $operator eq '*' ? $value * $other : eval { $value / $other } // 0;
    }
    return $value;
}

sub total {
    my $text = shift;
    my $value = product($text);
    while ($$text =~ /\G\s*([-+])/gc) { $value += ($1 eq '+' ? 1 : -1) * product($text) }
    return $value;
}

my @steps = map { my $n = $_; sub { $_[0] * $n + 1 } } 1 .. 4;
my $value = 1;
$value = $_->($value) % 1000 for map { @steps } 1 .. $size / 4;
my $evaluated = 0;
for (1 .. $size / 20) { my $text = '(7 + 3 * 12) / (4 - 2 * 2) - 15 * (2 + 9)'; $evaluated += total(\$text) }
print join(' ', words(), accounts(), sieve(), $value, $evaluated), "\n";
