with Ada.Text_IO; with Interfaces; use Interfaces; with Ada.Command_Line;
procedure Tasks is
   N : Integer := 20;
   protected Counter is
      procedure Add (X : Unsigned_32; M : Integer);
      function Value return Unsigned_32;
      entry Wait;
   private
      Total : Unsigned_32 := 0;
      Ready : Boolean := False;
   end Counter;
   protected body Counter is
      procedure Add (X : Unsigned_32; M : Integer) is
         S : Unsigned_32 := X;
      begin
         for K in 1 .. M loop
            if (S and 1) = 1 then
               S := S * 2654435761 + Unsigned_32 (K);
            else
               S := Shift_Right (S, 3) xor 5;
            end if;
         end loop;
         Total := Total + S;
         Ready := True;
      end Add;
      function Value return Unsigned_32 is
      begin
         return Total;
      end Value;
      entry Wait when Ready is
      begin
         for K in 1 .. 100 loop
            Total := Total xor Shift_Left (Total, 5);
         end loop;
      end Wait;
   end Counter;
   task type Worker is
      entry Start (Seed : Unsigned_32);
   end Worker;
   task body Worker is
      A : Unsigned_32;
   begin
      accept Start (Seed : Unsigned_32) do
         A := Seed;
      end Start;
      for I in 1 .. N * 100 loop
         for K in 1 .. 16 loop
            if (A and 1) = 1 then
               A := A * 2654435761 + Unsigned_32 (I);
            else
               A := Shift_Right (A, 3) xor Shift_Left (Unsigned_32 (K), 7);
            end if;
            if (A and 16#ffff#) = 77 then
               A := A + 12345;
            end if;
         end loop;
         if I mod 64 = 0 then
            Counter.Add (A, 20);
         end if;
      end loop;
   end Worker;
begin
   if Ada.Command_Line.Argument_Count > 0 then
      N := Integer'Value (Ada.Command_Line.Argument (1));
   end if;
   declare
      W : array (1 .. 2) of Worker;
   begin
      for J in W'Range loop
         W (J).Start (Unsigned_32 (J));
      end loop;
   end;
   Counter.Wait;
   Ada.Text_IO.Put_Line (Unsigned_32'Image (Counter.Value));
end Tasks;
