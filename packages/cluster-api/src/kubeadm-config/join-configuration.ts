import { publicKeyHash, splitCertificates } from "@causeway/foundation";
import { taints, type KubeadmConfigSpec } from "@causeway/api";
import { argumentsOf, durationsOf, kubeadmApi } from "../objects/kubeadm.ts";

type JoinSpec = NonNullable<KubeadmConfigSpec["joinConfiguration"]>;
type NodeRegistration = NonNullable<JoinSpec["nodeRegistration"]>;

/** What a join needs in addition to what the user wrote. */
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
  /** The machine joins as a control plane. */
  readonly isControlPlane?: boolean;
}

/**
 * kubeadm's JoinConfiguration: v1beta4 from 1.31, v1beta3 before (kubernetes.io, kubeadm configuration). The Node has
 * the Machine's name unless the user names it; unless the user wants no taints at all, a worker starts with the taint
 * that keeps work off until the Machine's labels are there.
 */
export function joinConfiguration(spec: JoinSpec | undefined, facts: JoinFacts): Record<string, unknown> {
  const { apiVersion, old } = kubeadmApi(facts.version);
  const { discovery, nodeRegistration, timeouts, controlPlane, ...rest } = spec ?? {};
  const { file, bootstrapToken, tlsBootstrapToken } = discovery ?? {};
  const token = {
    apiServerEndpoint: facts.endpoint,
    token: facts.token,
    ...(bootstrapToken?.unsafeSkipCAVerification ? {} : { caCertHashes: [...facts.caCertHashes] }),
    ...bootstrapToken,
  };
  return {
    apiVersion,
    kind: "JoinConfiguration",
    ...rest,
    ...(facts.isControlPlane ? { controlPlane: controlPlane ?? {} } : {}),
    discovery: {
      ...(file ? { file: { kubeConfigPath: file.kubeConfigPath } } : { bootstrapToken: token }),
      ...(tlsBootstrapToken ? { tlsBootstrapToken } : {}),
      ...(old && timeouts?.discoverySeconds !== undefined ? { timeout: `${timeouts.discoverySeconds}s` } : {}),
    },
    nodeRegistration: registration(nodeRegistration, facts, old),
    ...(timeouts && !old ? { timeouts: durationsOf(timeouts) } : {}),
  };
}

function registration(given: NodeRegistration | undefined, facts: JoinFacts, old: boolean): Record<string, unknown> {
  const { kubeletExtraArgs, taints: given_, imagePullSerial, ...rest } = given ?? {};
  const args = kubeletExtraArgs ?? [];
  const wanted = given_?.length === 0 ? [] : [...(given_ ?? []), uninitialized];
  // Without taints of the user, kubeadm gives a control plane its own.
  const taintsOfNode = facts.isControlPlane ? (given_ ? { taints: given_ } : {}) : { taints: wanted };
  return {
    ...(facts.machine === undefined ? {} : { name: facts.machine }),
    ...rest,
    ...(imagePullSerial === undefined || old ? {} : { imagePullSerial }),
    ...(args.length === 0 ? {} : { kubeletExtraArgs: argumentsOf(args, old) }),
    ...taintsOfNode,
  };
}

const uninitialized = { key: taints.uninitialized, effect: "NoSchedule" };

/** "sha256:…" of each authority in the bundle: while one is rotated there are two, and machines accept either. */
export function pinsOf(authority: string): string[] {
  return splitCertificates(authority).map(publicKeyHash);
}
