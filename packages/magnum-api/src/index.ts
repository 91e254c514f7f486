export { startMagnum, type Magnum, type MagnumOptions } from "./magnum-api.ts";
export type { RateLimit } from "./access/rate.ts";
export { readPolicyFile } from "./settings/policy-file.ts";
