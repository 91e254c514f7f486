import type { Prediction, PhasePlan } from "../../phase.ts";
import type { EtcdMember } from "../../etcd/client.ts";
import type { ImportFacts, ImportStep } from "./plan.ts";

/** What phase import reads after its next step, or when what it waits for is there. Pure. */
export function predictImport(
  facts: ImportFacts,
  { steps: [step], wait }: PhasePlan<ImportStep>,
): Prediction<ImportFacts> | undefined {
  if (step === undefined) return wait === undefined ? undefined : awaited(facts);
  const { secrets, members, peerURL } = facts;
  switch (step.type) {
    case "write-roots":
      return { facts: { ...facts, secrets: { ...secrets, ca: true, proxy: true, sa: true } } };
    case "create-objects":
      return { facts: { ...facts, hasObjects: true, wantedStage: "Reserve", stage: "Reserve" } };
    case "sign-etcd":
      return { facts: { ...facts, secrets: { ...secrets, etcd: true } } };
    case "add-member": {
      const own: EtcdMember = { id: "", name: "", peerURLs: [step.peerURL], isLearner: true };
      return { facts: { ...facts, members: [...members, own] } };
    }
    case "follow":
      return { facts: { ...facts, wantedStage: "Follow" } };
    case "promote":
      return { facts: { ...facts, members: changed(members, peerURL, { isLearner: false }) } };
  }
}

function awaited(facts: ImportFacts): Prediction<ImportFacts> {
  const { peerURL, peerHost, members } = facts;
  if (peerURL !== undefined)
    return { facts: { ...facts, stage: "Follow", members: changed(members, peerURL, { name: "hosted" }) } };
  const host = peerHost.includes(":") && !peerHost.startsWith("[") ? `[${peerHost}]` : peerHost;
  return {
    // It is known when it is reserved.
    facts: { ...facts, problem: undefined, peerURL: `https://${host}:<reserved port>` },
    depends: "end here if the management cluster has no runtime that can join the masters' etcd",
  };
}

const changed = (
  members: readonly EtcdMember[],
  peerURL: string | undefined,
  changes: Partial<EtcdMember>,
): readonly EtcdMember[] =>
  members.map((one) => (peerURL !== undefined && one.peerURLs.includes(peerURL) ? { ...one, ...changes } : one));
