import { networkCases } from "./contract/network-cases.ts";
import { serverCases } from "./contract/server-cases.ts";
import { sessionCases } from "./contract/session-cases.ts";
import { loadBalancingCases } from "./contract/load-balancing-cases.ts";
import { watchCases } from "./contract/watch-cases.ts";
import type { ContractCase } from "./contract/case.ts";

/** What this kit relies on in a cloud: to be run on a real one, and on whatever plays one. */
export const openstackContract: readonly ContractCase[] = [
  ...sessionCases,
  ...networkCases,
  ...serverCases,
  ...loadBalancingCases,
  ...watchCases,
];
