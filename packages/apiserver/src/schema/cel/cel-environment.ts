import type { Environment } from "@marcbachmann/cel-js";

/** The functions and variables that expressions of one kind know: the CEL library's own type. */
export type CelEnvironment = Environment;
