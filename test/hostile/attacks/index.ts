import type { Attack } from "../target.ts";
import { bodies } from "./bodies.ts";
import { connections } from "./connections.ts";
import { identities } from "./identities.ts";
import { patches } from "./patches.ts";
import { reads } from "./reads.ts";
import { schemas } from "./schemas.ts";

/** Every attack, in the order in which they are run. */
export const attacks: readonly Attack[] = [...bodies, ...patches, ...schemas, ...reads, ...connections, ...identities];
