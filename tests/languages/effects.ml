(* Fibers that all yield in one function. *)
open Effect
open Effect.Deep
type _ Effect.t += Yield : int -> unit Effect.t

let[@inline never] yield n =
  perform (Yield n)

let[@inline never] leaf n =
  n land 7

let rec tree n =
  if n > 0 then begin
    tree (n - 1);
    yield (leaf n);
    tree (n - 1)
  end

let[@inline never] squares n =
  for i = 1 to n do
    yield (i * i)
  done

type state = Done | More of int * (unit, state) continuation

let[@inline never] start f =
  match_with f () {
    retc = (fun () -> Done);
    exnc = raise;
    effc = (fun (type a) (e : a Effect.t) ->
      match e with
      | Yield n -> Some (fun (k : (a, _) continuation) -> More (n, k))
      | _ -> None) }

let[@inline never] next k =
  continue k ()

let () =
  let sum = ref 0 in
  let all = [| start (fun () -> tree 5); start (fun () -> squares 31); start (fun () -> tree 5) |] in
  let left = ref true in
  while !left do
    left := false;
    Array.iteri (fun i s -> match s with
      | Done -> ()
      | More (n, k) -> sum := !sum + n; left := true; all.(i) <- next k) all
  done;
  print_int !sum
