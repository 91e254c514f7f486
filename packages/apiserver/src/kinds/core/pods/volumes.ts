import { isRecord, record, records, text, type Json } from "../../../json/json.ts";
import { forbiddenField, invalidValue, required } from "../../../errors/problems.ts";
import type { FieldProblem } from "../../../errors/status.ts";
import { nanosOf } from "../../../syntax/quantity.ts";
import { subdomainFaults } from "../../../syntax/dns.ts";
import {
  duplicate,
  given,
  labelNeeded,
  localPath,
  neededText,
  noSteps,
  supported,
  type Problems,
} from "../../shared/checks.ts";
import { fileProblems, itemProblems, modeProblems } from "./files.ts";
import { projectedProblems } from "./projected.ts";

/*
 * Volumes of pods: each has one source. Source: Kubernetes, "Volumes"; API reference, Volume.
 */

const HOST_TYPES = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];
function keyedSource(nameField: string): Source {
  return (source, field) => [
    ...neededText(`${field}.${nameField}`, source[nameField]),
    ...modeProblems(`${field}.defaultMode`, source["defaultMode"]),
    ...itemProblems(source["items"], `${field}.items`),
  ];
}

function iscsiProblems(source: Json, field: string): FieldProblem[] {
  const iqn = text(source["iqn"]);
  const problems = neededText(`${field}.targetPortal`, source["targetPortal"]);
  const isNamed = /^(iqn|eui|naa)/.test(iqn);
  const why = "must be valid format starting with iqn, eui, or naa";
  if (iqn === "") problems.push(required(`${field}.iqn`));
  else if (!isNamed) problems.push(invalidValue(`${field}.iqn`, iqn, why));
  const { lun } = source;
  const isFar = typeof lun === "number" && (lun < 0 || lun > 255);
  return isFar ? [...problems, invalidValue(`${field}.lun`, lun, "must be between 0 and 255, inclusive")] : problems;
}

type Source = (source: Json, field: string) => Problems;

/** In the order in which kube-apiserver checks them. */
const SOURCES: Readonly<Record<string, Source>> = {
  emptyDir: ({ sizeLimit }, field) =>
    (nanosOf(sizeLimit) ?? 0n) < 0n
      ? [forbiddenField(`${field}.sizeLimit`, "SizeLimit field must be a valid resource quantity")]
      : [],
  hostPath: ({ path, type }, field) =>
    text(path) === ""
      ? [required(`${field}.path`)]
      : [...noSteps(`${field}.path`, text(path)), ...supported(`${field}.type`, type, HOST_TYPES)],
  gitRepo: ({ repository, directory }, field) => [
    ...neededText(`${field}.repository`, repository),
    ...localPath(`${field}.directory`, text(directory)),
  ],
  secret: keyedSource("secretName"),
  nfs: ({ server, path }, field) => [
    ...neededText(`${field}.server`, server),
    ...neededText(`${field}.path`, path),
    ...(text(path) === "" || text(path).startsWith("/")
      ? []
      : [invalidValue(`${field}.path`, path, "must be an absolute path")]),
  ],
  iscsi: iscsiProblems,
  persistentVolumeClaim: ({ claimName }, field) => neededText(`${field}.claimName`, claimName),
  downwardAPI: ({ defaultMode, items }, field) => [
    ...modeProblems(`${field}.defaultMode`, defaultMode),
    ...records(items).flatMap((file) => fileProblems(file, field)),
  ],
  configMap: keyedSource("name"),
  projected: (source, field) => [
    ...modeProblems(`${field}.defaultMode`, source["defaultMode"]),
    ...projectedProblems(source, field),
  ],
  csi: ({ driver, nodePublishSecretRef }, field) => [
    ...neededText(`${field}.driver`, driver),
    // Capitals are accepted.
    ...subdomainFaults(text(driver).toLowerCase()).map((why) => invalidValue(`${field}.driver`, text(driver), why)),
    ...(isRecord(nodePublishSecretRef) && !text(nodePublishSecretRef["name"])
      ? [required(`${field}.nodePublishSecretRef.name`)]
      : []),
  ],
  ephemeral: (source, field) =>
    isRecord(source["volumeClaimTemplate"]) ? [] : [required(`${field}.volumeClaimTemplate`)],
  image: () => [],
};

const MORE = "may not specify more than 1 volume type";

function sourceProblems(volume: Json, field: string): FieldProblem[] {
  const [first, ...more] = Object.keys(SOURCES).filter((name) => given(volume, name));
  if (first === undefined) return [];
  const problems = SOURCES[first]?.(record(volume[first]), `${field}.${first}`) ?? [];
  return [...problems, ...more.map((name) => forbiddenField(`${field}.${name}`, MORE))];
}

/** What is wrong with a pod's volumes: their sources, and names that are unique DNS labels. */
export function volumeProblems(spec: Json, path: string): FieldProblem[] {
  const names = new Set<string>();
  return records(spec["volumes"]).flatMap((volume, i) => {
    const at = `${path}.volumes[${i}]`;
    const name = text(volume["name"]);
    const problems = [...sourceProblems(volume, at), ...labelNeeded(`${at}.name`, name)];
    if (name !== "" && names.has(name)) problems.push(duplicate(`${at}.name`, name));
    names.add(name);
    return problems;
  });
}
