/** The tree of a template in the language of Go's text/template. */
export type Node =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "action"; readonly pipe: Pipeline }
  | { readonly type: "if" | "with"; readonly pipe: Pipeline; readonly body: Body; readonly otherwise: Body }
  | { readonly type: "range"; readonly pipe: Pipeline; readonly body: Body; readonly otherwise: Body }
  /** Another template of the same text, with the value of `pipe` as its dot. */
  | { readonly type: "template"; readonly name: string; readonly pipe: Pipeline | undefined }
  | { readonly type: "break" | "continue" };

/** What is between two actions of a block, in order. */
export type Body = readonly Node[];

/** A text, and the templates that it defines. */
export interface Template {
  readonly body: Body;
  readonly defined: ReadonlyMap<string, Body>;
}

/** `$a, $b := command | command`: the variables are declared, or set with `=`. */
export interface Pipeline {
  readonly variables: readonly string[];
  readonly declares: boolean;
  readonly commands: readonly Command[];
}

/** A function or a value, and the arguments of the function. */
export type Command = readonly [Operand, ...Operand[]];

/** A value in a command; `path` are the fields that follow it: `$a.b.c` has `["b", "c"]`. */
export type Operand =
  | { readonly type: "literal"; readonly value: string | number | bigint | boolean | null }
  | { readonly type: "dot"; readonly path: readonly string[] }
  | { readonly type: "variable"; readonly name: string; readonly path: readonly string[] }
  | { readonly type: "function"; readonly name: string }
  | { readonly type: "pipeline"; readonly pipe: Pipeline; readonly path: readonly string[] };
