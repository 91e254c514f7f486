import type { OpenStackDeployment } from "@causeway/api";
import type { Job, KubeObject } from "@causeway/kubernetes";
import { resolveCatalogue, withOperators, type Catalogue } from "../catalogue/index.ts";
import type { Facts, OptionProblem, TlsMaterial } from "../config/index.ts";
import type { Credentials } from "../credentials/credentials.ts";
import { withRestoreJobs } from "../restore/jobs.ts";
import { withNorthboundRebuild, withSouthboundRebuild } from "../restore/ovn-databases.ts";
import type { BackendOperator, Component } from "../model/component.ts";
import { withUpgradeJobs } from "../upgrade/jobs.ts";
import {
  digestOf,
  type Context,
  type KnownDatabases,
  type OvnSide,
  type Rendered,
  type RenderedDatabase,
} from "./context.ts";
import { knownDatabases } from "./known-databases.ts";
import { budgetsOf, defaultDeny, policiesOf, rightsOf, serviceAccountOf, servicesOf } from "./network.ts";
import { revisionsOf } from "./revisions.ts";
import { replicasOf } from "./sizes.ts";
import { stamped } from "./stamp.ts";
import { jobInputs, workloadsOf, type Workload } from "./workloads.ts";

/** Everything that a deployment should consist of now. */
export interface Desired {
  readonly catalogue: Catalogue;
  /** What is created before any workload: accounts, policies, configuration. */
  readonly foundation: readonly Rendered[];
  readonly workloads: ReadonlyMap<string, readonly Rendered<Workload>[]>;
  /** Jobs that run when their time has come, in their order; each run is one of these with its own name. */
  readonly templates: readonly Job[];
  readonly problems: readonly OptionProblem[];
}

/** What decides what a deployment consists of. */
export interface DesireOptions {
  readonly deployment: OpenStackDeployment;
  readonly credentials: Credentials;
  readonly computeNodes: readonly string[];
  /** How often credential keys were rotated. */
  readonly credentialKeys?: string;
  /** When certificates were renewed, by service: pods that read them at their start alone start again. */
  readonly certificates?: Readonly<Record<string, string | undefined>>;
  /** The release that is left, while an upgrade is under way. */
  readonly upgradeFrom?: string;
  readonly tls?: TlsMaterial | undefined;
  /** Clusters that operators of others run, by component. */
  readonly operators?: Readonly<Record<string, BackendOperator>>;
  /** A restore from a backup is under way. */
  readonly isRestoring?: boolean;
  /** Databases of OVN that came in place of lost ones. */
  readonly ovn?: Readonly<Partial<Record<OvnSide, RenderedDatabase>>>;
  readonly knownDatabases?: KnownDatabases;
  /** The release whose messages processes may use: that of the oldest that runs. */
  readonly messagesOf: string;
}

/** @throws OPENSTACK_DEPENDENCY_CYCLE, OPENSTACK_SERVICE_MISSING */
export function desiredOf(options: DesireOptions): Desired {
  const { deployment, credentials, computeNodes, upgradeFrom, isRestoring = false, messagesOf } = options;
  const plain = withOperators(resolveCatalogue(deployment.spec), options.operators ?? {});
  const { nb, sb } = options.ovn ?? {};
  const restoring = isRestoring
    ? withRestoreJobs(plain)
    : nb?.isRebuilding
      ? withNorthboundRebuild(plain)
      : sb?.isRebuilding
        ? withSouthboundRebuild(plain)
        : plain;
  const catalogue = upgradeFrom === undefined ? restoring : withUpgradeJobs(restoring);
  const byName = new Map(catalogue.components.map((component) => [component.name, component]));
  const facts: Facts = {
    name: deployment.metadata.name,
    namespace: deployment.metadata.namespace ?? "",
    spec: deployment.spec,
    catalogue,
    credentials,
    tls: options.tls,
    replicas: (name) => {
      const component = byName.get(name);
      return component ? replicasOf(deployment.spec, component) : 1;
    },
  };
  const revisions = revisionsOf({ deployment }, facts);
  const context: Context = {
    deployment,
    facts,
    configuration: revisions.configuration,
    keys: revisions.keys,
    tls: revisions.tls,
    programs: revisions.programs,
    programTexts: revisions.programTexts,
    mutable: mutableSecrets(deployment.metadata.name),
    computeNodes: digestOf(computeNodes),
    credentialKeys: options.credentialKeys ?? "",
    certificates: options.certificates ?? {},
    rebuilt: { ...(nb ? { nb: nb.database } : {}), ...(sb ? { sb: sb.database } : {}) },
    knownDatabases: options.knownDatabases,
    messagesOf,
  };
  const { order } = catalogue.graph;
  const jobs = jobInputs(context, order);
  return {
    catalogue,
    foundation: stampedAll([
      serviceAccountOf(context),
      defaultDeny(context),
      ...revisions.objects,
      ...knownDatabases(context),
      ...order.flatMap((component) => [
        ...servicesOf(context, component),
        ...policiesOf(context, component),
        ...budgetsOf(context, component),
        ...rightsOf(context, component),
      ]),
    ]),
    workloads: new Map(
      order
        .filter(({ runs }) => runs === undefined)
        .map((component) => [component.name, stampedAll(workloadsOf(context, component, jobs))]),
    ),
    // In the order of the table, which is that of a run.
    templates: catalogue.components
      .filter(({ runs }) => runs !== undefined)
      .flatMap((component) => workloadsOf(context, component, jobs).map(({ object }) => object as Job)),
    problems: revisions.problems,
  };
}

/** The components that the deployment consists of, without those that run at their times. */
export const lastingComponents = ({ components }: Catalogue): readonly Component[] =>
  components.filter(({ runs }) => runs === undefined);

const stampedAll = <T extends KubeObject>(all: readonly Rendered<T>[]): Rendered<T>[] =>
  all.map((each) => ({ ...each, object: stamped(each.object) }));

/** Names of the Secrets that change in place, or that outlive the deployment. */
export const mutableSecrets = (deployment: string) => ({
  credentials: `${deployment}-credentials`,
  tokenKeys: `${deployment}-token-keys`,
  credentialKeys: `${deployment}-credential-keys`,
  authority: `${deployment}-authority`,
});
