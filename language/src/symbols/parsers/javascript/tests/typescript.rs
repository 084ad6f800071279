//! TypeScript and TSX.

use crate::symbols::tests::check_rows;

#[test]
fn typescript() {
    check_rows(
        "TypeScript",
        r##"import { A, type B } from './a';
import * as fs from 'fs';
export type Id = string | number;
type Shape = { kind: 'circle'; radius: number } | { kind: 'square' };
export interface User<T = any> extends Base {
  readonly id: Id;
  name?: string;
  tags: Array<{ a: string, b: number }>;
  greet(to: string): void;
  cb: (x: number) => void;
  [key: string]: unknown;
  new (x: string): User;
}
export enum Color { Red = 'red', Green = 1 << 2, Blue }
declare const enum Flags { A, B }
declare module 'foo' {
  export function bar(x: string): void;
}
declare global { interface Window { app: App } }
namespace Util.Deep {
  export const version = '1';
  export function pad(s: string): string { return s; }
}
declare function ext(x: number): string;
declare var process: any;
function over(x: string): string;
function over(x: number): number;
function over(x: any): any {
  return x;
}
@Component({ selector: 'app', template: `<a>${x}</a>` })
export abstract class Svc<T extends { a: string }> extends mixin(Base) implements OnInit, X<Y> {
  private static instance: Svc<any>;
  @Input() name: string = 'x';
  #secret = 1;
  readonly items: Map<string, { a: number }> = new Map();
  handler = (e: Event): Promise<void> => { return p; };
  count = 0
  declare foo: string
  constructor(private readonly http: Http, public x = 1) {
    super();
    this.x = () => { };
  }
  private async load<K extends keyof T>(x: K, opts: { a: number } = {}): Promise<Record<string, K>> {
    const local = async (y: number): Promise<void> => { await y; };
    if (x) { return foo(x); }
    for (const z of []) { }
    switch (x) { case 'a': { break; } default: { } }
    return { a: 1, b() { return 2; } };
  }
  get value(): { a: string } { return this._v; }
  set value(v) { this._v = v; }
  static async *gen() { yield 1; }
  abstract todo(x: number): void;
  'quoted-name'() { }
  [Symbol.iterator]() { }
  protected over(x: string): void
  protected over(x: any) {
  }
}
export const add = (a: number, b: number): number => a + b;
export const thunk = <T,>(x: T): Record<string, T> => ({ x });
const single = x => x * 2, other = 5;
export default class Main { run() { } }
export const config = {
  port: 80,
  nested: { deep: 1 },
  start() { return 1; },
  stop: async () => { },
  'on-data': function (x) { },
  async *items() { },
};
let a1 = a < b, c1 = d > e;
export { add as default };
abstract class Base2 {
  pick<M extends E<{ [k in keyof T]?: true }, M>>(m: M): Z<T, 'x', C> { }
  rest<R extends S = D>(r: R): void;
}
export function readonly<T>(x: T) { }
declare module 'z' { interface M<S> { 'a/b': W<S>; catch(x: S): void; } }
export { type X } from 'y';
foo(a, (x: { cb: (p) => void }) => x);
"##,
        "type Id 3 | type Shape 4 | field Shape.kind 4 | field Shape.radius 4 | field Shape.kind 4
             interface User 5-13 | field User.id 6 | field User.name 7 | field User.tags 8
             method User.greet; 9 | field User.cb 10 | enum Color 14 | enumerator Color.Red 14
             enumerator Color.Green 14 | enumerator Color.Blue 14 | enum Flags 15
             enumerator Flags.A 15 | enumerator Flags.B 15 | function bar; 17
             interface Window 19 | field Window.app 19 | module Util.Deep 20-23
             constant Util.Deep.version 21 | function Util.Deep.pad 22 | function ext; 24
             variable process 25 | function over; 26 | function over; 27 | function over 28-30
             class Svc 32-60 | field Svc.instance 33 | field Svc.name 34 | field Svc.#secret 35
             field Svc.items 36 | method Svc.handler 37 | field Svc.count 38 | field Svc.foo 39
             method Svc.constructor 40-43 | method Svc.constructor.x 42 | method Svc.load 44-50
             function Svc.load.local 45 | method Svc.load.b 49 | method Svc.value 51
             method Svc.value 52 | method Svc.gen 53 | method Svc.todo; 54
             method Svc.quoted-name 55 | method Svc.over; 57 | method Svc.over 58-59
             function add 61 | function thunk 62 | function single 63 | constant other 63
             class Main 64 | method Main.run 64 | constant config 65-72 | field config.port 66
             field config.nested 67 | method config.start 68 | method config.stop 69
             method config.on-data 70 | method config.items 71 | variable a1 73 | variable c1 73
             class Base2 75-78 | method Base2.pick 76 | method Base2.rest; 77
             function readonly 79 | interface M 80 | method M.catch; 80",
    );
}

#[test]
fn members_of_type_literals() {
    check_rows(
        "TypeScript",
        r#"type A = B & {
  f(x: number): void
  g?<T>(x: { a(): void }): T
}
export type C = { h(): void } | { i: 1 };
interface D {
  fs?: { read(file: string): string }
  use(): { no(): void }
}
declare const e: { j(): void; new (): D };
const k: { l?: string } = { m: 1 }, n = [1] as const
type O<T = { no: 1 }> = 1
function p(x: { no(): void }) { let q: { r(): void } }
"#,
        "type A 1-4 | method A.f; 2 | method A.g; 3 | type C 5 | method C.h; 5 | field C.i 5
             interface D 6-9 | field D.fs 7 | method D.fs.read; 7 | method D.use; 8
             constant e 10 | method e.j; 10 | constant k 11 | field k.l 11 | field k.m 11
             constant n 11 | type O 12 | function p 13",
    );
}

#[test]
fn tsx() {
    check_rows(
        "TSX",
        r##"export const App: React.FC<Props> = ({ name, items }) => {
  const [state, setState] = useState<{ a: number }>({ a: 1 });
  const onClick = useCallback(() => { go(); }, []);
  function render() {
    return <ul>{items.map((it) => <li key={it.id} onClick={() => { pick(it); }}>Don't {it.name}</li>)}</ul>;
  }
  return (
    <Box style={{ color: 'red' }} render={function () { return <a/>; }}>
      {state.a > 1 ? <b>yes</b> : null}
    </Box>
  );
};
export default function Page({ id }: { id: string }) {
  return <App name={`x${id}`} />;
}
class Old extends React.Component<Props, State> {
  state: State = { open: false };
  render() { return <div className="a">{this.props.children}</div>; }
}
"##,
        "function App 1-12 | function App.render 4-6 | function Page 13-15 | class Old 16-19
             field Old.state 17 | method Old.render 18",
    );
}
