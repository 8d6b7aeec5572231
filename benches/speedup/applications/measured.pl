# What perl is measured with: other programs than those of the training.
use strict;
use warnings;

my $size = shift;
my $state = 23;
sub random { $state = ($state * 1103515245 + 12345) & 0x7fffffff; return ($state >> 8) % $_[0] }

# A log: lines that are made, matched, split, counted and rewritten.
sub log_file {
    my @kinds = ('GET /index', 'POST /form', 'GET /image');
    my $text = join '', map { "$_ $kinds[$_ % 3]?id=" . random(50) . ' ' . (200 + $_ % 4) . "\n" } 1 .. $size;
    my (%seen, %status);
    for my $line (split /\n/, $text) {
        my ($number, $method, $path, $id) = $line =~ m{^(\d+) (\w+) (/\w+)\?id=(\d+)} or next;
        push @{$seen{"$method $path"}{$id}}, $number;
        $status{(split / /, $line)[-1]}++;
    }
    (my $rewritten = $text) =~ s{(\w+)\?id=(\d+)}{lc($1) . '/' . ($2 + 1)}ge;
    my $tabs = $rewritten =~ tr/ /\t/;
    my $longest = 0;
    for my $path (sort keys %seen) {
        for my $numbers (values %{$seen{$path}}) { $longest = @$numbers if @$numbers > $longest }
    }
    return join ' ', length $rewritten, $tabs, $longest, map { "$_=$status{$_}" } sort keys %status;
}

# A breadth-first search in a maze.
sub maze {
    my $side = int sqrt($size * 2);
    my @rows = map { join '', map { random(4) ? '.' : '#' } 1 .. $side } 1 .. $side;
    substr($rows[0], 0, 1) = '.';
    my %distance = ('0,0' => 0);
    my @queue = ([0, 0]);
    while (my $place = shift @queue) {
        my ($x, $y) = @$place;
        for my $step ([1, 0], [-1, 0], [0, 1], [0, -1]) {
            my ($to_x, $to_y) = ($x + $step->[0], $y + $step->[1]);
            next if $to_x < 0 || $to_y < 0 || $to_x >= $side || $to_y >= $side;
            next if substr($rows[$to_y], $to_x, 1) eq '#' || exists $distance{"$to_x,$to_y"};
            $distance{"$to_x,$to_y"} = $distance{"$x,$y"} + 1;
            push @queue, [$to_x, $to_y];
        }
    }
    return scalar keys %distance;
}

# Floating-point numbers in nested arrays.
sub matrices {
    my $side = int $size ** 0.4;
    my @left = map { my $i = $_; [map { ($i * $_) % 7 + 0.5 } 1 .. $side] } 1 .. $side;
    my $sum = 0;
    for my $row (@left) {
        for my $column (0 .. $side - 1) {
            my $cell = 0;
            $cell += $row->[$_] * $left[$_][$column] for 0 .. $side - 1;
            $sum += $cell;
        }
    }
    return $sum;
}

# Recursion, and words of a grammar.
sub hanoi {
    my ($n, $from, $to, $by) = @_;
    return $n ? hanoi($n - 1, $from, $by, $to) + 1 + hanoi($n - 1, $by, $to, $from) : 0;
}

sub shout {
    my %rules = (S => 'NP VP', NP => 'the N', VP => 'V NP', N => 'cat dog', V => 'sees hears');
    my $words = 0;
    for (1 .. $size / 30) {
        my $text = 'S';
        my $expand = sub {
            my @parts = split ' ', $rules{$_[0]};
            return length($_[0]) == 1 && $_[0] ne 'S' ? $parts[random(2)] : "@parts";
        };
        1 while $text =~ s/\b([A-Z]+)\b/$expand->($1)/e;
        $words += () = $text =~ /\w+/g;
        $words += ucfirst(reverse $text) =~ /^[A-Z]/ ? 1 : 0;
    }
    return $words;
}

print join(' ', log_file(), maze(), matrices(), hanoi(10, 'a', 'b', 'c'), shout()), "\n";
