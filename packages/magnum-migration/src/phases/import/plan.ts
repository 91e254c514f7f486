import { caKeyRefusal } from "../ca-key.ts";
import type { EtcdMember } from "../../etcd/client.ts";
import type { MigrationRecord } from "../../record/record.ts";
import type { PhasePlan, Step } from "../../phase.ts";

/** What is read for `planImport`. URLs are of etcd's peers. */
export interface ImportFacts {
  readonly secrets: Readonly<Record<"ca" | "proxy" | "sa" | "etcd", boolean>>;
  /** The private key of the cluster's CA is given, on a master, or in its Secret already. */
  readonly hasCaKey: boolean;
  readonly hasObjects: boolean;
  readonly peerURL: string | undefined;
  /** As spec.datastore says, and as the runtime has it. */
  readonly wantedStage: string | undefined;
  readonly stage: string | undefined;
  readonly members: readonly EtcdMember[];
  readonly etcdVersion: string;
  /** Where the masters are to reach the hosted etcd, and whether that is this machine's own loopback. */
  readonly peerHost: string;
  readonly isLoopback: boolean;
  /** Hosts of the masters' etcd that are other machines than this one. */
  readonly elsewhere: readonly string[];
  /** Why the controller of hosted control planes could not do what it was to do. */
  readonly problem: string | undefined;
}

/** A step of phase import. */
export type ImportStep = Step &
  (
    | { readonly type: "write-roots" }
    | { readonly type: "create-objects" }
    | { readonly type: "sign-etcd"; readonly peerURL: string }
    | { readonly type: "add-member"; readonly peerURL: string }
    | { readonly type: "follow" }
    | { readonly type: "promote"; readonly id: string }
  );

/** Keys first, then the objects; etcd joins as a learner, and votes when it has everything. */
export function planImport(facts: ImportFacts, { namespace, name, inventory }: MigrationRecord): PhasePlan<ImportStep> {
  const { secrets, members, peerURL, wantedStage, stage } = facts;
  const only = (step: ImportStep): PhasePlan<ImportStep> => ({ steps: [step], proof: [] });
  const wait = (what: string): PhasePlan<ImportStep> => ({ steps: [], wait: what, proof: [] });
  const [elsewhere] = facts.elsewhere;
  if (!facts.hasObjects && facts.isLoopback && elsewhere !== undefined)
    return {
      steps: [],
      refused: {
        code: "MIGRATE_PEER_HOST",
        message: `The masters of cluster ${inventory.name} cannot reach the hosted etcd at ${facts.peerHost}: their etcd is on other machines, such as ${elsewhere}`,
        hint: "Set --peer-host to the address of the hosted control plane's machine at which the masters reach it.",
      },
      proof: [],
    };
  const refused = caKeyRefusal(facts.hasCaKey, inventory);
  if (refused) return { steps: [], refused, proof: [] };
  if (!secrets.ca || !secrets.proxy || !secrets.sa)
    return only({
      type: "write-roots",
      what: `take over the authorities and the key of service accounts into Secrets ${namespace}/${name}-{ca,proxy,sa}`,
    });
  if (!facts.hasObjects)
    return only({
      type: "create-objects",
      what: `create MagnumCluster, Cluster and HostedControlPlane ${namespace}/${name}`,
    });
  if (peerURL === undefined && facts.problem !== undefined && /RUNTIME_/.test(facts.problem))
    return {
      steps: [],
      refused: {
        code: "MIGRATE_RUNTIME",
        message: `The management cluster cannot run HostedControlPlane ${namespace}/${name}: ${facts.problem}`,
        hint: "An embedded control plane has no etcd that could join the masters'. Offer runtime Process: causeway up --runtime process --programs DIR. Then run import again, or rollback.",
      },
      proof: [],
    };
  if (peerURL === undefined)
    return wait(
      `the hosted control plane to reserve its ports${facts.problem === undefined ? "" : `: ${facts.problem}`}`,
    );
  if (!secrets.etcd)
    return only({ type: "sign-etcd", peerURL, what: `have Magnum sign etcd certificates for ${peerURL}` });
  const own = members.find((member) => member.peerURLs.includes(peerURL));
  if (!own) return only({ type: "add-member", peerURL, what: `add ${peerURL} to etcd as a learner` });
  if (wantedStage === "Reserve") return only({ type: "follow", what: "start the hosted etcd" });
  if (own.name === "" || stage === "Reserve") return wait("the hosted etcd to start");
  if (own.isLearner)
    return only({ type: "promote", id: own.id, what: "make the hosted etcd a voting member, when it is in sync" });
  return {
    steps: [],
    proof: [
      `Secrets ${name}-ca, ${name}-proxy and ${name}-sa have the cluster's own keys`,
      `etcd ${facts.etcdVersion} has ${members.length} voting members; ${own.name} was in sync when it was promoted`,
      `HostedControlPlane ${namespace}/${name} has version ${inventory.version}, and serves nothing yet`,
    ],
  };
}
