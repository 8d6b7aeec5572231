# What perl is measured with: other programs than those of the training.
my $size = shift;
my $seed = 2;

sub random {
    my ($limit) = @_;
    $seed = ($seed * 1103515245 + 12345) & 0x7fffffff;
    return ($seed >> 8) % $limit;
}

# Tokens by regular expressions, and a parser that calls itself.
my @tokens;

sub factor {
    my $token = shift @tokens;
    return $token if $token ne '(';
    my $value = total();
    shift @tokens;
    return $value;
}

sub product {
    my $value = factor();
    while (@tokens && $tokens[0] =~ m{^[*/]$}) {
        my $operator = shift @tokens;
        my $right = factor();
        $value = $operator eq '*' ? $value * $right : $right ? int($value / $right) : 0;
    }
    return $value;
}

sub total {
    my $value = product();
    while (@tokens && $tokens[0] =~ /^[-+]$/) {
        $value = shift(@tokens) eq '+' ? $value + product() : $value - product();
    }
    return $value;
}

sub evaluate {
    my ($count) = @_;
    my $sum = 0;
    for my $number (1 .. $count) {
        my $expression = "($number + 3 * 12) / (4 - 2 * 1) - 15 * (2 + $number)";
        @tokens = $expression =~ m{\d+|[-+*/()]}g;
        $sum += total();
    }
    return $sum;
}

# A breadth-first search over strings as keys of hashes.
sub paths {
    my ($width) = @_;
    my (%walls, %distance);
    $walls{ random($width) . ',' . random($width) } = 1 for 1 .. $width * $width / 4;
    my @queue = ('0,0');
    $distance{'0,0'} = 0;
    while (defined(my $at = shift @queue)) {
        my ($x, $y) = split /,/, $at;
        for ([$x + 1, $y], [$x - 1, $y], [$x, $y + 1], [$x, $y - 1]) {
            my ($to_x, $to_y) = @$_;
            next if $to_x < 0 || $to_y < 0 || $to_x >= $width || $to_y >= $width;
            my $to = "$to_x,$to_y";
            next if $walls{$to} || exists $distance{$to};
            $distance{$to} = $distance{$at} + 1;
            push @queue, $to;
        }
    }
    my ($farthest) = sort { $b <=> $a } values %distance;
    return scalar(keys %distance) . " $farthest";
}

# A table of fields: records, closures, sorting by several keys, and a report.
sub table {
    my ($count) = @_;
    my @names = qw(red green blue white black);
    my @rows = map { { id => $_, name => $names[random(5)], price => random(10000) / 100 } } 1 .. $count;
    my %by = (
        name => sub { $_[0]{name} cmp $_[1]{name} },
        price => sub { $_[0]{price} <=> $_[1]{price} },
    );
    my @sorted = sort { $by{name}->($a, $b) || $by{price}->($b, $a) } @rows;
    my (%sum, $report);
    for my $row (@sorted) {
        $sum{ $row->{name} } += $row->{price};
        $report .= sprintf "%-8s|%6d|%9.2f\n", @$row{qw(name id price)};
    }
    return join ',', map { sprintf '%s=%.1f', $_, $sum{$_} } sort keys %sum;
}

# Text of markup: substitutions with code, and joining.
sub markup {
    my ($count) = @_;
    my $text = '';
    $text .= "*word$_* is _here_ & there < $_ > see [page$_](http://x/$_)\n" for 1 .. $count;
    my %entity = ('&' => '&amp;', '<' => '&lt;', '>' => '&gt;');
    $text =~ s/([&<>])/$entity{$1}/g;
    $text =~ s{\*(\w+)\*}{<b>$1</b>}g;
    $text =~ s{_(\w+)_}{'<i>' . uc($1) . '</i>'}ge;
    $text =~ s{\[(\w+)\]\(([^)]+)\)}{<a href="$2">$1</a>}g;
    my @lines = reverse split /\n/, $text;
    return length(join "\n", grep { !/7/ } @lines);
}

print join(' | ', evaluate($size), paths(int($size / 40)), table(2 * $size), markup(2 * $size)), "\n";
