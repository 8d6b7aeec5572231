# Work of several kinds, in proportion to `size`.
(defn fib [n] (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))

(defn sieve [n]
  (def composite @{})
  (var primes 0)
  (for i 2 n
    (unless (composite i)
      (++ primes)
      (var j (* i i))
      (while (< j n) (put composite j true) (+= j i))))
  primes)

(defn shapes [n]
  (def all (seq [i :range [0 n]] {:w (% i 17) :h (% i 23)}))
  (def areas (map (fn [{:w w :h h}] (* w h)) all))
  (reduce (fn [a b] (% (+ (* a 31) b) 1000003)) 7 (sort areas)))

(defn strings [n]
  (def counts @{})
  (def buffer @"")
  (for i 0 n (buffer/push buffer "word" (string (% i 97)) ","))
  (each word (string/split "," buffer) (put counts word (inc (get counts word 0))))
  (def digits (peg/compile '{:main (any (+ (* (<- :d) (<- :d)) 1))}))
  (+ (length counts) (length (peg/match digits buffer)) (length (string/format "%q" counts))))

(defn fibers [n]
  (def produce (fiber/new (fn [] (for i 0 n (yield (div i 3))))))
  (var sum 0)
  (each value produce (+= sum (band value 0xff)))
  sum)

(defn failing [n]
  (var caught 0)
  (for i 0 n (try (when (zero? (% i 3)) (error i)) ([_] (++ caught))))
  caught)

(string/join (map string [(fib (+ 14 size)) (sieve (* 4000 size)) (shapes (* 1000 size)) (strings (* 500 size))
                          (fibers (* 2000 size)) (failing (* 500 size))]) " ")
