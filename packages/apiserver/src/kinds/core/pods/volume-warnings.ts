import { isRecord, record, records, text, type Json } from "../../../json/json.ts";

const removed = (since: string, gone: string): string => `deprecated in v${since}, non-functional in v${gone}+`;

/** Kinds of volumes that are not to be used any more. Source: Kubernetes API reference, Volume. */
const DEPRECATED: Readonly<Record<string, string>> = {
  photonPersistentDisk: removed("1.11", "1.16"),
  gitRepo: "deprecated in v1.11, and disabled by default in v1.33+",
  scaleIO: removed("1.16", "1.22"),
  flocker: removed("1.22", "1.25"),
  storageos: removed("1.22", "1.25"),
  quobyte: removed("1.22", "1.25"),
  glusterfs: removed("1.25", "1.26"),
  cephfs: removed("1.28", "1.31"),
  rbd: removed("1.28", "1.31"),
};
/** The one whose name the warning spells as Go does. */
const SHOWN: Readonly<Record<string, string>> = { storageos: "storageOS" };

/** What is odd about the volumes of a pod: `path` is the field that holds them. */
export function volumeWarnings(volumes: readonly Json[], path: string): string[] {
  const old = volumes.flatMap((volume, i) =>
    Object.entries(DEPRECATED)
      .filter(([name]) => isRecord(volume[name]))
      .map(([name, why]) => `${path}[${i}].${SHOWN[name] ?? name}: ${why}`),
  );
  return [...old, ...volumes.flatMap(overlaps)];
}

/** Where a file of a volume comes from. */
interface File {
  readonly path: string;
  readonly source: string;
}

/** Files of one volume with conflicting paths. */
function overlaps(volume: Json): string[] {
  const name = JSON.stringify(text(volume["name"]));
  const warningsFor = (kind: string, files: readonly File[]): string[] =>
    collisions(files).map((pair) => `volume ${name} (${kind}): overlapping paths: ${pair}`);
  const { configMap, secret, downwardAPI, projected } = volume;
  if (isRecord(configMap)) return warningsFor(`ConfigMap ${quoted(configMap["name"])}`, items(configMap, ""));
  if (isRecord(secret)) return warningsFor(`Secret ${quoted(secret["secretName"])}`, items(secret, ""));
  if (isRecord(downwardAPI)) return warningsFor("DownwardAPI", items(downwardAPI, ""));
  if (!isRecord(projected)) return [];
  const sources = records(projected["sources"]);
  const empty = sources.filter((source) => Object.keys(source).length === 0);
  return [
    ...empty.map(() => `volume ${name} (Projected) has no sources provided`),
    ...warningsFor("Projected", sources.flatMap(projectedFiles)),
  ];
}

function quoted(value: unknown): string {
  return JSON.stringify(text(value));
}

function items(source: Json, origin: string): File[] {
  return records(source["items"]).map(({ path }) => ({ path: text(path), source: origin }));
}

function projectedFiles(source: Json): File[] {
  const { configMap, secret, downwardAPI, serviceAccountToken: token, clusterTrustBundle: bundle } = source;
  if (isRecord(configMap)) return items(configMap, `ConfigMap ${quoted(configMap["name"])}`);
  if (isRecord(secret)) return items(secret, `Secret ${quoted(secret["name"])}`);
  if (isRecord(downwardAPI)) return items(downwardAPI, "DownwardAPI");
  if (isRecord(token)) return [{ path: text(token["path"]), source: "ServiceAccountToken" }];
  if (isRecord(bundle)) {
    const origin = `ClusterTrustBundle ${quoted(bundle["name"] ?? bundle["signerName"])}`;
    return [{ path: text(bundle["path"]), source: origin }];
  }
  const { podCertificate } = source;
  const files = { certificateChainPath: "chain", keyPath: "key", credentialBundlePath: "credential bundle" };
  return Object.entries(files)
    .map(([field, what]) => ({
      path: text(record(podCertificate)[field]),
      source: `PodCertificate ${what}`,
    }))
    .filter(({ path }) => path !== "");
}

function collisions(files: readonly File[]): string[] {
  const all = files.map(({ path, source }) => ({ path: path.replace(/\/+$/, ""), source }));
  return all.flatMap((file, i) =>
    all
      .slice(0, i)
      .filter((other) => isWithin(file.path, other.path) || isWithin(other.path, file.path))
      .map((other) => `${shown(file)} with ${shown(other)}`),
  );
}

function isWithin(path: string, folder: string): boolean {
  return path !== "" && folder !== "" && `${path}/`.startsWith(`${folder}/`);
}

function shown({ path, source }: File): string {
  return source === "" ? JSON.stringify(path) : `${JSON.stringify(path)} (${source})`;
}
