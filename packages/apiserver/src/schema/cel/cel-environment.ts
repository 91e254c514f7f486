import type { Environment } from "@marcbachmann/cel-js";

export type CelEnvironment = Environment;
