import type { RawGroup } from "./case.ts";
import { applicationCredentials } from "./cases/application-credentials.ts";
import { computeGroups } from "./cases/compute.ts";
import { identityGroups } from "./cases/identity.ts";
import { imageGroups } from "./cases/image.ts";
import { keyManagerGroups } from "./cases/key-manager.ts";
import { l7ValueGroup } from "./cases/l7-values.ts";
import { loadBalancerGroups } from "./cases/load-balancer.ts";
import { networkGroups } from "./cases/network.ts";
import { operatorGroups } from "./cases/operator-kinds.ts";
import { orchestrationGroups } from "./cases/orchestration.ts";
import { placementGroups } from "./cases/placement.ts";
import { shareGroups } from "./cases/share.ts";
import { otherClientGroups } from "./cases/other-clients.ts";
import { volumeGroups } from "./cases/volume.ts";

/** The requests that a cloud gets by raw HTTP. */
export const groups: readonly RawGroup[] = [
  ...identityGroups,
  applicationCredentials,
  ...imageGroups,
  ...volumeGroups,
  ...networkGroups,
  ...computeGroups,
  ...loadBalancerGroups,
  l7ValueGroup,
  ...keyManagerGroups,
  ...shareGroups,
  ...orchestrationGroups,
  ...placementGroups,
  ...otherClientGroups,
  ...operatorGroups,
];
