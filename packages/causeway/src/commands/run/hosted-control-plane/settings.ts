import { dialRefusal, InputError, messageOf, parseCidr, parseIp, readTextFile } from "@causeway/foundation";
import type { PodsSettings, VersionImages } from "@causeway/hosted-control-plane";
import type { HostedControlPlaneFlags } from "./options.ts";

/**
 * The operator's settings from the flags.
 * @throws FLAG_INVALID, CERTIFICATE_UNREADABLE
 */
export function settingsOf(flags: HostedControlPlaneFlags, owner: string): PodsSettings {
  const { registry, clusterDomain, causewayImage } = flags;
  return {
    owner,
    registry,
    clusterDomain,
    operatorNamespace: flags.leaderElectNamespace,
    pool: poolOf(flags),
    ceilings: ceilingsOf(flags),
    ...(causewayImage === undefined ? {} : { causewayImage }),
    datastoreMoves: flags.datastoreMoves,
    ...(flags.versions === undefined ? {} : { versions: versionsOf(flags.versions) }),
    ...(flags.nodeNetworks === undefined ? {} : { nodeNetworks: networksOf("node-networks", flags.nodeNetworks) }),
    ...(flags.cloudNetworks === undefined ? {} : { cloudNetworks: networksOf("cloud-networks", flags.cloudNetworks) }),
    ...(flags.oidcNetworks === undefined ? {} : { issuerNetworks: networksOf("oidc-networks", flags.oidcNetworks) }),
    ...(flags.auditNetworks === undefined ? {} : { auditNetworks: networksOf("audit-networks", flags.auditNetworks) }),
    ...tunnelOf(flags),
    audit: auditOf(flags),
    ...gatewayOf(flags),
  };
}

function versionsOf(text: string): Record<string, VersionImages> {
  const rows = words(text).map((row): [string, VersionImages] => {
    const [, minor, etcd] = /^(v\d+\.\d+)=([\w][\w.-]{0,127})$/.exec(row) ?? [];
    if (minor !== undefined && etcd !== undefined) return [minor, { etcd }];
    throw invalid("versions", `${row} is not MINOR=TAG, such as v1.35=3.6.6-0`);
  });
  return Object.fromEntries(rows);
}

function poolOf({
  poolMembers,
  poolStorage,
  poolStorageClass,
}: HostedControlPlaneFlags): NonNullable<PodsSettings["pool"]> {
  const storageClass = poolStorageClass === undefined ? {} : { storageClassName: poolStorageClass };
  return { members: Number(poolMembers), storage: size("pool-storage", poolStorage), ...storageClass };
}

function ceilingsOf(flags: HostedControlPlaneFlags): NonNullable<PodsSettings["ceilings"]> {
  return {
    ...(flags.maxSize === undefined ? {} : { size: flags.maxSize }),
    ...(flags.maxReplicas === undefined ? {} : { replicas: count("max-replicas", flags.maxReplicas) }),
    ...(flags.maxStorage === undefined ? {} : { storage: size("max-storage", flags.maxStorage) }),
    ...(flags.storageClasses === undefined ? {} : { storageClasses: words(flags.storageClasses) }),
    ...(flags.maxControlPlanes === undefined
      ? {}
      : { controlPlanes: count("max-control-planes", flags.maxControlPlanes) }),
    ...(flags.maxNamespaceStorage === undefined
      ? {}
      : { namespaceStorage: size("max-namespace-storage", flags.maxNamespaceStorage) }),
  };
}

function count(flag: string, text: string): number {
  if (!/^[0-9]{1,6}$/.test(text)) throw invalid(flag, `${text} is not a number`);
  return Number(text);
}

function size(flag: string, text: string): string {
  if (!/^[0-9]{1,9}[KMGT]i$/.test(text)) throw invalid(flag, `${text} is not a size, such as 8Gi`);
  return text;
}

function networksOf(flag: string, text: string): string[] {
  const all = words(text);
  for (const each of all)
    if (parseCidr(each) === undefined) throw invalid(flag, `${each} is not a network, such as 10.6.0.0/16`);
  return all;
}

function tunnelOf({ tunnelUrl, tunnelCaFile, tunnelNamespace }: HostedControlPlaneFlags): Pick<PodsSettings, "tunnel"> {
  if (tunnelUrl === undefined) return {};
  if (!URL.canParse(tunnelUrl) || new URL(tunnelUrl).protocol !== "https:")
    throw invalid("tunnel-url", `${tunnelUrl} is not an https URL`);
  if (tunnelCaFile === undefined) throw invalid("tunnel-ca-file", "it is needed with --tunnel-url");
  const certificateAuthority = textOf("tunnel-ca-file", tunnelCaFile, "CERTIFICATE_UNREADABLE");
  return { tunnel: { url: tunnelUrl, certificateAuthority, namespace: tunnelNamespace } };
}

const auditLogs = { stdout: "Stdout", file: "File", none: "None" } as const;

function auditOf(flags: HostedControlPlaneFlags): NonNullable<PodsSettings["audit"]> {
  const { auditLog, auditWebhookUrl: url, auditWebhookCaFile, auditWebhookTokenFile } = flags;
  const { auditWebhookNamespace, auditWebhookPodPort } = flags;
  const log = auditLogs[auditLog];
  if (url === undefined) {
    const others = [auditWebhookCaFile, auditWebhookTokenFile, auditWebhookNamespace, auditWebhookPodPort];
    if (others.some((each) => each !== undefined))
      throw invalid("audit-webhook-url", "it is needed with the other flags of the webhook");
    if (log === "None") throw invalid("audit-log", "none is for --audit-webhook-url: without it nothing is audited");
    return { log };
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== "https:" || parsed.username !== "" || parsed.search !== "" || parsed.hash !== "")
    throw invalid("audit-webhook-url", `${url} is not an https URL without a user and a query`);
  if (auditWebhookCaFile === undefined) throw invalid("audit-webhook-ca-file", "it is needed with --audit-webhook-url");
  if (auditWebhookTokenFile === undefined)
    throw invalid("audit-webhook-token-file", "it is needed with --audit-webhook-url, which tenants can reach, too");
  if (auditWebhookNamespace === undefined)
    throw invalid("audit-webhook-namespace", "it is needed with --audit-webhook-url: API servers may connect to it");
  const certificateAuthority = textOf("audit-webhook-ca-file", auditWebhookCaFile, "CERTIFICATE_UNREADABLE");
  const token = textOf("audit-webhook-token-file", auditWebhookTokenFile, "TOKEN_UNREADABLE").trim();
  if (!/^[\x21-\x7e]{1,4096}$/.test(token))
    throw invalid("audit-webhook-token-file", `${auditWebhookTokenFile} has no token in one line`);
  const webhook = { url, certificateAuthority, token, namespace: auditWebhookNamespace };
  if (auditWebhookPodPort === undefined) return { log, webhook };
  const podPort = count("audit-webhook-pod-port", auditWebhookPodPort);
  if (podPort < 1 || podPort > 65_535) throw invalid("audit-webhook-pod-port", `${podPort} is not a port`);
  return { log, webhook: { ...webhook, podPort } };
}

function textOf(flag: string, file: string, code: "CERTIFICATE_UNREADABLE" | "TOKEN_UNREADABLE"): string {
  try {
    return readTextFile(file);
  } catch (cause) {
    throw new InputError(code, `${file} cannot be read: ${messageOf(cause)}`, {
      cause,
      hint: `Specify the path of a file that this user may read with --${flag}.`,
    });
  }
}

function gatewayOf(flags: HostedControlPlaneFlags): Pick<PodsSettings, "gateway"> {
  const { gatewayDomain: domain, gatewayAddress: address, gatewayNodeAddress: nodeAddress } = flags;
  if (domain === undefined) return {};
  // Before it there is a label of up to 55 characters.
  if (domain.length > 190 || !/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(domain))
    throw invalid("gateway-domain", `${domain} is not a DNS name in lower case`);
  const port = count("gateway-port", flags.gatewayPort);
  if (port < 1 || port > 65_535) throw invalid("gateway-port", `${port} is not a port`);
  const node = parseIp(nodeAddress);
  const isUsable =
    node !== undefined &&
    dialRefusal({ allow: undefined, deny: [], names: undefined }, nodeAddress, port) === undefined;
  if (!isUsable) throw invalid("gateway-node-address", `${nodeAddress} is not an address that endpoints may have`);
  if (address !== undefined && parseIp(address) === undefined)
    throw invalid("gateway-address", `${address} is not an address; names are below --gateway-domain`);
  const shown = address === undefined ? {} : { address };
  return { gateway: { domain, port, ...shown, nodeAddress, namespace: flags.gatewayNamespace } };
}

function words(text: string): string[] {
  return text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

function invalid(flag: string, why: string): InputError {
  return new InputError("FLAG_INVALID", `--${flag}: ${why}`, { hint: "Correct the flag; --help lists its values." });
}
