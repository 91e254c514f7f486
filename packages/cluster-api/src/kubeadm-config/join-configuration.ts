import { taints, type KubeadmConfigSpec } from "@causeway/api";

type JoinSpec = NonNullable<KubeadmConfigSpec["joinConfiguration"]>;
type NodeRegistration = NonNullable<JoinSpec["nodeRegistration"]>;

/** What a join needs besides what the user wrote. */
export interface JoinFacts {
  /** Undefined: the machine names its Node itself. */
  readonly machine: string | undefined;
  /** The Machine's version, such as "v1.34.0": it settles which kubeadm API is written. */
  readonly version: string | undefined;
  /** host:port */
  readonly endpoint: string;
  readonly token: string;
  /** "sha256:<hex>" */
  readonly caCertHashes: readonly string[];
}

/**
 * kubeadm's JoinConfiguration for a worker: v1beta4 from 1.31, v1beta3 before (kubernetes.io, kubeadm configuration).
 * The Node has the Machine's name unless the user names it; unless the user wants no taints at all, it starts with the
 * taint that keeps work off until the Machine's labels are there.
 */
export function joinConfiguration(spec: JoinSpec | undefined, facts: JoinFacts): Record<string, unknown> {
  const old = isBefore131(facts.version);
  const { discovery, nodeRegistration, timeouts, controlPlane: _, ...rest } = spec ?? {};
  const { file, bootstrapToken, tlsBootstrapToken } = discovery ?? {};
  const token = {
    apiServerEndpoint: facts.endpoint,
    token: facts.token,
    ...(bootstrapToken?.unsafeSkipCAVerification ? {} : { caCertHashes: [...facts.caCertHashes] }),
    ...bootstrapToken,
  };
  return {
    apiVersion: `kubeadm.k8s.io/${old ? "v1beta3" : "v1beta4"}`,
    kind: "JoinConfiguration",
    ...rest,
    discovery: {
      ...(file ? { file: { kubeConfigPath: file.kubeConfigPath } } : { bootstrapToken: token }),
      ...(tlsBootstrapToken ? { tlsBootstrapToken } : {}),
      ...(old && timeouts?.discoverySeconds !== undefined ? { timeout: `${timeouts.discoverySeconds}s` } : {}),
    },
    nodeRegistration: registration(nodeRegistration, facts, old),
    ...(timeouts && !old ? { timeouts: durations(timeouts) } : {}),
  };
}

function registration(given: NodeRegistration | undefined, facts: JoinFacts, old: boolean): Record<string, unknown> {
  const { kubeletExtraArgs, taints: given_, imagePullSerial, ...rest } = given ?? {};
  const args = kubeletExtraArgs ?? [];
  const wanted = given_?.length === 0 ? [] : [...(given_ ?? []), uninitialized];
  return {
    ...(facts.machine === undefined ? {} : { name: facts.machine }),
    ...rest,
    ...(imagePullSerial === undefined || old ? {} : { imagePullSerial }),
    ...(args.length === 0
      ? {}
      : { kubeletExtraArgs: old ? Object.fromEntries(args.map(({ name, value }) => [name, value])) : args }),
    taints: wanted,
  };
}

const uninitialized = { key: taints.uninitialized, effect: "NoSchedule" };

/** `discoverySeconds: 300` is `discovery: 300s` to kubeadm. */
function durations(timeouts: NonNullable<JoinSpec["timeouts"]>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(timeouts).map(([name, seconds]) => [name.replace(/Seconds$/, ""), `${seconds}s`]),
  );
}

function isBefore131(version: string | undefined): boolean {
  const minor = /^v?1\.(\d+)/.exec(version ?? "")?.[1];
  return minor !== undefined && Number(minor) < 31;
}
