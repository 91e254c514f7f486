import { identityCases } from "./identity-cases.ts";
import { networkExtensionCases } from "./network-extension-cases.ts";
import { otherServiceCases } from "./other-service-cases.ts";
import { storageCases } from "./storage-cases.ts";
import { networkCases } from "./network-cases.ts";
import { serverCases } from "./server-cases.ts";
import { sessionCases } from "./session-cases.ts";
import { loadBalancingCases } from "./load-balancing-cases.ts";
import { watchCases } from "./watch-cases.ts";
import type { ContractCase } from "./case.ts";

/** What this kit relies on in a cloud: to be run on a real one, and on whatever plays one. */
export const openstackContract: readonly ContractCase[] = [
  ...sessionCases,
  ...networkCases,
  ...serverCases,
  ...loadBalancingCases,
  ...watchCases,
  ...identityCases,
  ...networkExtensionCases,
  ...storageCases,
  ...otherServiceCases,
];
