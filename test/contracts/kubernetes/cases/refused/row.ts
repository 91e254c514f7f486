import type { Json } from "../../interface.ts";

/** A PodSpec, and what is wrong with it: "field: message" of each cause. */
export type PodRow = readonly [title: string, spec: Json, causes: readonly string[]];

/** The same of an object of another kind, next to its name. */
export type Row = readonly [title: string, kind: string, body: Json, causes: readonly string[]];
