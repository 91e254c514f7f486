import { issueCertificate } from "@causeway/foundation";
import type { Target } from "../interface.ts";
import { startEmbedded } from "../embedded.ts";
import { startKubeApiserver } from "../kube-apiserver.ts";
import { rawClient } from "../raw.ts";
import type { Pair, Side } from "./run.ts";

/**
 * What the real server has and ours does not have, and what would not let random operations be compared: nodes are not
 * born with a taint that a controller takes off (kube-controller-manager is not here).
 */
const WITHOUT = ["TaintNodesByCondition"];

/** Starts the real server and ours. */
export async function startPair(): Promise<Pair & { close(): Promise<void> }> {
  const [theirs, ours] = await Promise.all([
    startKubeApiserver({ without: WITHOUT }).then(sideOf),
    startEmbedded().then(sideOf),
  ]);
  return {
    theirs,
    ours,
    async close() {
      for (const { api } of [theirs, ours]) api.close();
      await Promise.all([theirs.target.close(), ours.target.close()]);
    },
  };
}

async function sideOf(target: Target): Promise<Side> {
  const { certificate, key } = await issueCertificate(target.authority, {
    commonName: "fuzz",
    organizations: ["system:masters"],
    usages: ["client"],
    lifetime: 86_400_000,
  });
  return { target, api: rawClient({ url: target.url, ca: target.ca, certificate, key }) };
}
