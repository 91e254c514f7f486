import { KubeadmConfig, type KubeadmConfigStatus } from "@causeway/api";
import {
  runPipeline,
  isTrue,
  keyOf,
  watchInformer,
  watchOwner,
  type ControllerOptions,
  type ObjectKey,
  type Pipeline,
  type Source,
} from "@causeway/kubernetes";
import { by, indexOfCluster, onConnectionChange, type Context } from "../objects/context.ts";
import { groupsByCluster } from "../objects/groups.ts";
import { failure, publish } from "../objects/pipeline.ts";
import type { Observed } from "./observed.ts";
import { gather, ownerOf, tokensIn } from "./gather.ts";
import { perform } from "./perform.ts";
import { plan } from "./plan.ts";
import type { ConfigStep } from "./steps.ts";
import { tokenLabel } from "./token.ts";

/** Reconciles KubeadmConfigs: makes the bootstrap data of machines, with tokens of their own. */
export function kubeadmConfigController(context: Context): ControllerOptions {
  const { clock, log, configs } = context;
  const pipeline: Pipeline<Observed, ConfigStep, KubeadmConfigStatus> = {
    gather: (key, signal) => gather(context, key, signal),
    plan,
    perform: (step, observed, signal) => perform(context, { step, observed }, signal),
    publish: ({ config }, status, events, signal) =>
      publish(context, KubeadmConfig, { object: config, status, events, signal }),
    failed: (_observed, { status }, _step, error) => failure(status, error),
  };
  return {
    name: "kubeadmconfig",
    reconcile: runPipeline(pipeline, { clock, log, name: "kubeadmconfig", metrics: context.metrics }),
    sources: sources(context),
    groups: groupsByCluster(({ namespace, name }) => {
      const config = configs.get({ namespace, name });
      const owner = config && ownerOf(context, config);
      return owner && { namespace, name: owner.clusterName };
    }),
    clock,
    log,
  };
}

function sources(context: Context): Source[] {
  const { clusters, machines, pools, configs, secrets } = context;
  return [
    watchInformer(configs),
    watchInformer(machines, ({ object }) => configOf(object.metadata.namespace, object.spec.bootstrap.configRef)),
    watchInformer(pools, ({ object }) =>
      configOf(object.metadata.namespace, object.spec.template.spec.bootstrap.configRef),
    ),
    watchInformer(clusters, ({ object, previous }) =>
      previous && stateOf(previous) === stateOf(object) ? [] : configsOf(context, keyOf(object)),
    ),
    watchOwner(secrets, KubeadmConfig.kind),
    // The cluster's certificates.
    watchInformer(secrets, ({ object }) => {
      const { namespace = "", name } = object.metadata;
      return name.endsWith("-ca") ? configsOf(context, { namespace, name: name.slice(0, -"-ca".length) }) : [];
    }),
    (enqueue) =>
      onConnectionChange(context.remoteClusters, (remote) => {
        const all = () => configsOf(context, remote.key).forEach(enqueue);
        if (remote.signal.aborted) return all();
        const tokens = tokensIn(remote);
        const stop = tokens.onChange(({ object }) =>
          configs
            .byIndex(by.uid, object.metadata.labels?.[tokenLabel] ?? "")
            .map(keyOf)
            .forEach(enqueue),
        );
        remote.signal.addEventListener("abort", stop, { once: true });
        tokens.whenSynced(remote.signal).then(all, () => {});
      }),
  ];
}

function configOf(namespace: string | undefined, reference: { kind: string; name: string } | undefined): ObjectKey[] {
  return reference?.kind === KubeadmConfig.kind ? [{ namespace: namespace ?? "", name: reference.name }] : [];
}

function configsOf({ machines, pools }: Context, { namespace, name }: ObjectKey): ObjectKey[] {
  const index = indexOfCluster({ namespace, name });
  return [
    ...machines.byIndex(by.cluster, index).map(({ spec }) => spec.bootstrap.configRef),
    ...pools.byIndex(by.cluster, index).map(({ spec }) => spec.template.spec.bootstrap.configRef),
  ].flatMap((reference) => configOf(namespace, reference));
}

type ClusterState = Parameters<typeof keyOf>[0] & {
  spec: { paused?: boolean; controlPlaneEndpoint?: { host?: string; port?: number } };
  status?: { initialization?: object; conditions?: Parameters<typeof isTrue>[0] & object };
};

/** What of a Cluster its KubeadmConfigs wait for. */
function stateOf({ spec, status }: ClusterState): string {
  const initialized = isTrue(status?.conditions, "ControlPlaneInitialized");
  return JSON.stringify([spec.paused, spec.controlPlaneEndpoint, status?.initialization, initialized]);
}
