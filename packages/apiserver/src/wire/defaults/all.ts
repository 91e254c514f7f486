import { CORE_DEFAULTS } from "./core.ts";
import { GROUP_DEFAULTS } from "./groups.ts";
import { POD_DEFAULTS } from "./pods.ts";
import type { Rules } from "./rule.ts";
import { WORKLOAD_DEFAULTS } from "./workloads.ts";

/** Defaults of the built-in kinds, as the API reference gives them. */
export const DEFAULTS: Rules = { ...CORE_DEFAULTS, ...POD_DEFAULTS, ...WORKLOAD_DEFAULTS, ...GROUP_DEFAULTS };
