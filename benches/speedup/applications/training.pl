# What perl is trained with: words of a text, a log's lines, objects, sorting and numbers.
my $size = shift;
my $seed = 1;

sub random {
    my ($limit) = @_;
    $seed = ($seed * 1103515245 + 12345) & 0x7fffffff;
    return ($seed >> 8) % $limit;
}

# Strings, hashes and sorting.
sub text {
    my ($count) = @_;
    my @syllables = qw(ka lo mi ren su tor vi we);
    my (@words, %frequency);
    for (1 .. $count) {
        my $word = join '', map { $syllables[random(8)] } 0 .. random(3);
        push @words, $word;
        $frequency{$word}++;
    }
    my @ranked = sort { $frequency{$b} <=> $frequency{$a} || $a cmp $b } keys %frequency;
    my $lines = join "\n", map { sprintf '%12s: %d', $_, $frequency{$_} } @ranked;
    my $text = join ' ', @words;
    my $found = () = $text =~ /\b(?:ka|lo)\w*?mi\b/g;
    (my $changed = $text) =~ s/(su)(tor|vi)/$2$1/g;
    $changed =~ tr/aeiou/AEIOU/;
    return length($lines) . " $found " . length($changed);
}

# Lines with fields, as most scripts read them.
sub log_lines {
    my ($count) = @_;
    my (%bytes, %of_hour);
    for my $number (1 .. $count) {
        my $line = sprintf '10.0.%d.%d - - [%02d:%02d] "GET /page%d HTTP/1.1" %d %d',
            random(4), random(200), random(24), random(60), random(30), random(9) ? 200 : 404, random(9000);
        next unless $line =~ m{^(\S+) .*\[(\d+):\d+\] "(\w+) (\S+) [^"]*" (\d+) (\d+)$};
        my ($host, $hour, $path, $status, $size) = ($1, $2, $4, $5, $6);
        next if $status != 200;
        $bytes{$path} += $size;
        push @{ $of_hour{$hour} }, $host;
    }
    my @largest = (sort { $bytes{$b} <=> $bytes{$a} } keys %bytes)[0 .. 2];
    return "@largest " . join ',', map { scalar @{ $of_hour{$_} } } sort keys %of_hour;
}

package Account;

sub new {
    my ($class, $owner) = @_;
    return bless { owner => $owner, sum => 0, changes => [] }, $class;
}

sub add {
    my ($self, $amount) = @_;
    die "overdrawn\n" if $self->{sum} + $amount < $self->limit;
    $self->{sum} += $amount;
    push @{ $self->{changes} }, $amount;
    return $self;
}

sub limit { return 0 }

package Credit;
our @ISA = ('Account');

sub limit { return -500 }

package main;

# Methods, inheritance and exceptions.
sub accounts {
    my ($count) = @_;
    my @all = map { ($_ % 3 ? 'Account' : 'Credit')->new("owner$_") } 1 .. 20;
    my $refused = 0;
    for (1 .. $count) {
        eval { $all[random(20)]->add(random(400) - 150); 1 } or $refused++;
    }
    my $sum = 0;
    $sum += $_->{sum} for @all;
    return "$sum $refused";
}

# Numbers and arrays.
sub sieve {
    my ($limit) = @_;
    my @is_composite;
    my $primes = 0;
    for my $number (2 .. $limit) {
        next if $is_composite[$number];
        $primes++;
        for (my $multiple = $number * $number; $multiple <= $limit; $multiple += $number) {
            $is_composite[$multiple] = 1;
        }
    }
    return $primes;
}

print join(' | ', text(4 * $size), log_lines(2 * $size), accounts(4 * $size), sieve(10 * $size)), "\n";
