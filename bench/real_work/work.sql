create table item(id integer primary key, kind integer, name text, price real);
create table sale(item integer, day integer, amount integer);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 12000)
  insert into item select x, (x * 6151) % 211, 'thing ' || (x * 37 % 1999), (x * 31 % 977) / 10.0 from c;
with recursive c(x) as (select 1 union all select x + 1 from c where x < 30000)
  insert into sale select (x * 7919) % 12000 + 1, x % 365, x % 9 + 1 from c;
create index item_kind on item(kind);
create index sale_item on sale(item);
select kind, count(*), round(sum(price * amount), 1) t from item join sale on sale.item = item.id group by kind order by t desc limit 3;
select name, count(*) c from item where name like '%7%' group by name having c > 5 order by c desc, name limit 3;
update item set price = price * 1.1, name = upper(name) where kind % 7 = 3;
delete from sale where day between 100 and 140;
select day, sum(amount) over (order by day rows 6 preceding) from (select day, sum(amount) amount from sale group by day) limit 3;
select json_group_array(name) from (select name from item where id in (select item from sale where day = 7) order by name limit 4);
