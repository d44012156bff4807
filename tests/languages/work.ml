(* Calls of known numbers. *)
class virtual shape = object method virtual area : int -> int end

class round factor = object
  inherit shape
  method area n =
    n * n * factor
end

class square = object
  inherit shape
  method area n =
    n * n
end

let[@inline never] leaf n =
  n

let rec fibonacci n =
  if n < 2
  then leaf n
  else fibonacci (n - 1) + fibonacci (n - 2)

let rec deep n =
  if n = 0 then raise Not_found;
  deep (n - 1) + 1

let[@inline never] attempt n =
  try deep 9 with Not_found ->
    n

let[@inline never] twice f n =
  f (f n)

let () =
  let shapes = [| (new round 3 :> shape); (new square :> shape) |] in
  let sum = ref (fibonacci 12) in
  for i = 0 to 19 do sum := !sum + shapes.(i land 1)#area i done;
  for i = 0 to 6 do sum := !sum + attempt i done;
  for i = 0 to 49 do sum := !sum + twice (fun n -> n * 3) i done;
  for i = 1 to 6 do sum := !sum + leaf i done;
  let table = Hashtbl.create 16 in
  for i = 0 to 99 do Hashtbl.replace table (string_of_int i) i done;
  let sorted = List.sort compare (Hashtbl.fold (fun k _ l -> k :: l) table []) in
  Printf.printf "%d %s\n" !sum (String.concat "" sorted)
