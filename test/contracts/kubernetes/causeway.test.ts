/**
 * What clients rely on in a Kubernetes API server, held against ours. kube-apiserver.contract.ts holds the real one to
 * the same cases. Of stock kubectl only a part: a process for each command is slow, and the rest is in
 * causeway-kubectl.test.ts.
 */
import { caseGroups } from "./cases/all.ts";
import { kubectl, shortKubectl } from "./cases/kubectl.ts";
import { startEmbedded } from "./embedded.ts";
import { holdToContract } from "./suite.ts";

holdToContract(
  "causeway",
  startEmbedded,
  caseGroups.map((group) => (group === kubectl ? shortKubectl : group)),
);
