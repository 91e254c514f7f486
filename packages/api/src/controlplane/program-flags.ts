import Type from "typebox";
import { object, optional } from "../schema/fields.ts";
import { choice, count, portRange, someOf, span, yesOrNo, type FlagValue, type FlagValues } from "./flag-values.ts";

/** The programs of a control plane whose flags a tenant may set, as fields of `spec.flags`. */
export type FlaggedProgram = "apiServer" | "controllerManager";

/** A flag of a program that a tenant may set. */
export interface ProgramFlag {
  /** Name on the command line, without "--". */
  readonly flag: string;
  /** Name of the field of the spec. */
  readonly field: string;
  readonly values: FlagValues;
  readonly description: string;
  /** Why a tenant may set it. */
  readonly reason: string;
}

const row = (flag: string, field: string, values: FlagValues, [description, reason]: readonly [string, string]) => ({
  flag,
  field,
  values,
  description,
  reason,
});

/** Admission plugins that need no file of the server's and reach nothing. */
const plugins = [
  "AlwaysPullImages",
  "DenyServiceExternalIPs",
  "ExtendedResourceToleration",
  "LimitPodHardAntiAffinityTopology",
  "NamespaceAutoProvision",
  "NamespaceExists",
  "OwnerReferencesPermissionEnforcement",
  "PodNodeSelector",
  "PodTolerationRestriction",
];

const ownPods = "only the tenant's own pods wait longer or shorter";
const ownNodes = "only the tenant's own nodes are judged earlier or later";
const ownScaling = "it changes when the tenant's own pods are scaled, and not how often the controller works";

/**
 * Every flag of a control plane's programs that a tenant may set. A flag is here if it changes nothing outside of the
 * tenant's own cluster, names no file and no address, cannot keep a program from starting, and cannot make the control
 * plane cost more than its size says.
 */
export const programFlags: Readonly<Record<FlaggedProgram, readonly ProgramFlag[]>> = {
  apiServer: [
    row("default-not-ready-toleration-seconds", "defaultNotReadyTolerationSeconds", count(0, 86_400), [
      "Seconds that pods without a toleration of their own remain on a node that is not ready. Default 300.",
      ownPods,
    ]),
    row("default-unreachable-toleration-seconds", "defaultUnreachableTolerationSeconds", count(0, 86_400), [
      "Seconds that pods without a toleration of their own remain on a node that is unreachable. Default 300.",
      ownPods,
    ]),
    row("enable-admission-plugins", "enableAdmissionPlugins", someOf(plugins, ["NodeRestriction"]), [
      "Admission plugins in addition to Kubernetes' own default and NodeRestriction.",
      "they only refuse or complete the tenant's own objects",
    ]),
    row("event-ttl", "eventTTLSeconds", span(60, 3_600), [
      "Seconds that events are kept. Default 3600.",
      "more than the default would take room in an etcd that control planes share",
    ]),
    row("service-account-extend-token-expiration", "serviceAccountExtendTokenExpiration", yesOrNo, [
      "Tokens of pods are accepted for a year, so that programs that do not read them again continue. Default true.",
      "only the tenant's own tokens end earlier",
    ]),
    row("service-account-max-token-expiration", "serviceAccountMaxTokenExpirationSeconds", span(3_600, 31_536_000), [
      "Longest life of a token of a service account, in seconds.",
      "only the tenant's own tokens end earlier",
    ]),
    row("service-node-port-range", "serviceNodePortRange", portRange, [
      "Ports of Services of type NodePort. Default 30000-32767.",
      "they are ports of the tenant's own nodes",
    ]),
    row("tls-min-version", "tlsMinVersion", choice(["VersionTLS12", "VersionTLS13"]), [
      "Oldest version of TLS that clients may use. Default VersionTLS12.",
      "it can only become stricter",
    ]),
  ],
  controllerManager: [
    row(
      "horizontal-pod-autoscaler-cpu-initialization-period",
      "horizontalPodAutoscalerCPUInitializationPeriodSeconds",
      span(0, 3_600),
      ["Seconds after a pod's start in which its processor time may be left out. Default 300.", ownScaling],
    ),
    row(
      "horizontal-pod-autoscaler-downscale-stabilization",
      "horizontalPodAutoscalerDownscaleStabilizationSeconds",
      span(0, 3_600),
      ["Seconds without less demand before pods are removed. Default 300.", ownScaling],
    ),
    row(
      "horizontal-pod-autoscaler-initial-readiness-delay",
      "horizontalPodAutoscalerInitialReadinessDelaySeconds",
      span(0, 3_600),
      ["Seconds after a pod's start in which it may become ready for the first time. Default 30.", ownScaling],
    ),
    row("horizontal-pod-autoscaler-sync-period", "horizontalPodAutoscalerSyncPeriodSeconds", span(15, 300), [
      "Seconds between two reads of the demand. Default 15.",
      "it can only become slower than the default",
    ]),
    row("node-monitor-grace-period", "nodeMonitorGracePeriodSeconds", span(20, 3_600), [
      "Seconds without a sign of life after which a node is not ready. Default 50.",
      ownNodes,
    ]),
    row("node-startup-grace-period", "nodeStartupGracePeriodSeconds", span(20, 3_600), [
      "The same for a node that starts. Default 60.",
      ownNodes,
    ]),
    row("terminated-pod-gc-threshold", "terminatedPodGCThreshold", count(1, 12_500), [
      "Pods that have ended and are kept. Default 12500.",
      "it can only become less than the default",
    ]),
  ],
};

/** Flags of one program of a control plane, by their names. */
export type FlagSettings = Readonly<Record<string, FlagValue>>;

function settingsOf(program: FlaggedProgram, name: string) {
  const properties = programFlags[program].map((each) => [each.field, each.values.schema(each.description)] as const);
  const { type, properties: fields } = object(Object.fromEntries(properties));
  return optional(
    Type.Unsafe<FlagSettings>({ type, properties: fields, description: `Flags of ${name} that a tenant may set.` }),
  );
}

/** `spec.flags` of a control plane. */
export const flagSettings = object(
  {
    apiServer: settingsOf("apiServer", "kube-apiserver"),
    controllerManager: settingsOf("controllerManager", "kube-controller-manager"),
  },
  {
    description:
      "Settings of Kubernetes' own programs. Only with runtimes Process and Pods: the embedded API server has none of these flags.",
  },
);
