--  Calls of known numbers: the lines with "count" have theirs.
with Ada.Text_IO;
with Ada.Containers.Generic_Array_Sort;

procedure Work is
   Failed : exception;
   type Numbers is array (Positive range <>) of Integer;
   Total : Integer := 0;
   Values : Numbers (1 .. 64);

   function Fibonacci (N : Integer) return Integer;
   pragma No_Inline (Fibonacci);
   function Fibonacci (N : Integer) return Integer is
   begin
      if N < 2 then --  count 465
         return N; --  count 233
      end if;
      return Fibonacci (N - 1) + Fibonacci (N - 2); --  count 232
   end Fibonacci;

   function Deep (N : Integer) return Integer;
   pragma No_Inline (Deep);
   function Deep (N : Integer) return Integer is
   begin
      if N = 0 then --  count 70
         raise Failed; --  count 7
      end if;
      return Deep (N - 1) + 1; --  count 63
   end Deep;

   function Attempt (N : Integer) return Integer;
   pragma No_Inline (Attempt);
   function Attempt (N : Integer) return Integer is
   begin
      return Deep (N);
   exception
      when Failed =>
         return N; --  count 7
   end Attempt;

   function Less (A, B : Integer) return Boolean;
   pragma No_Inline (Less);
   function Less (A, B : Integer) return Boolean is
   begin
      Total := Total + 1;
      return A < B;
   end Less;

   procedure Sort is new Ada.Containers.Generic_Array_Sort (Positive, Integer, Numbers, Less);

   package Shapes is
      type Shape is abstract tagged null record;
      function Area (S : Shape; N : Integer) return Integer is abstract;
      type Round is new Shape with null record;
      overriding function Area (S : Round; N : Integer) return Integer;
      pragma No_Inline (Area);
   end Shapes;

   package body Shapes is
      overriding function Area (S : Round; N : Integer) return Integer is
      begin
         return N * N * 3; --  count 20
      end Area;
   end Shapes;

   One : aliased Shapes.Round;
   Any : access Shapes.Shape'Class := One'Access;
begin
   Total := Fibonacci (12);
   for I in 1 .. 20 loop
      Total := Total + Any.Area (I);
   end loop;
   for I in 1 .. 7 loop
      Total := Total + Attempt (9);
   end loop;
   for I in Values'Range loop
      Values (I) := I * 37 mod 64;
   end loop;
   Sort (Values);
   Ada.Text_IO.Put_Line (Integer'Image (Total));
end Work;
