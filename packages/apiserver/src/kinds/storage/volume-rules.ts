import type { KubeObject } from "@causeway/kubernetes";
import { at, fields, isRecord, record, records, same, text, texts, type Json } from "../../json/json.ts";
import { subdomainFaults } from "../../syntax/dns.ts";
import { forbiddenField, invalidValue, notSupported, required } from "../../errors/problems.ts";
import type { FieldProblem } from "../../errors/status.ts";
import { nanosOf } from "../../syntax/quantity.ts";
import {
  dnsName,
  duplicate,
  each,
  given,
  labelName,
  labelValue,
  neededText,
  noSteps,
  selectorProblems,
  supported,
} from "../shared/checks.ts";
import { nodeSelectorProblems } from "../core/pods/scheduling.ts";
import { modesProblems } from "../shared/template.ts";

/*
 * Volumes, what is requested of them, and who makes and attaches them. Source: Kubernetes, "Persistent Volumes"; API
 * reference, storage resources.
 */

const ACCESS_MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const VOLUME_MODES = ["Block", "Filesystem"];
const ALONE = "may not use ReadWriteOncePod with other access modes";

function aloneProblems(field: string, modes: unknown): FieldProblem[] {
  const list = texts(modes);
  return list.includes("ReadWriteOncePod") && list.length > 1 ? [forbiddenField(field, ALONE)] : [];
}

function classProblems(spec: Json, name: string): FieldProblem[] {
  const value = text(spec[name]);
  return value === "" ? [] : dnsName(`spec.${name}`, value);
}

function sizeProblems(field: string, size: unknown): FieldProblem[] {
  return (nanosOf(size) ?? 0n) > 0n ? [] : [invalidValue(field, size, "must be greater than zero")];
}

function capacityProblems(capacity: Json): FieldProblem[] {
  const field = "spec.capacity";
  const names = Object.keys(capacity);
  const problems = names.length === 0 ? [required(field)] : [];
  if (names.length !== 1 || capacity["storage"] === undefined) {
    const sorted = Object.fromEntries(names.toSorted().map((name) => [name, capacity[name]]));
    problems.push(notSupported(field, sorted, ["storage"]));
  }
  return [...problems, ...names.flatMap((name) => sizeProblems(`${field}[${name}]`, capacity[name]))];
}

type Source = (source: Json, field: string) => readonly FieldProblem[];

const SOURCES: Readonly<Record<string, Source>> = {
  hostPath: ({ path }, field) =>
    text(path) === "" ? [required(`${field}.path`)] : noSteps(`${field}.path`, text(path)),
  nfs: ({ server, path }, field) => {
    const problems = [...neededText(`${field}.server`, server), ...neededText(`${field}.path`, path)];
    const isWrong = text(path) !== "" && !text(path).startsWith("/");
    return isWrong ? [...problems, invalidValue(`${field}.path`, path, "must be an absolute path")] : problems;
  },
  local: ({ path }, field) => (text(path) === "" ? [required(`${field}.path`)] : noSteps(`${field}.path`, text(path))),
  csi: ({ driver, volumeHandle }, field) => [
    ...driverProblems(`${field}.driver`, driver),
    ...neededText(`${field}.volumeHandle`, volumeHandle),
  ],
  iscsi: ({ targetPortal, iqn }, field) => [
    ...neededText(`${field}.targetPortal`, targetPortal),
    ...neededText(`${field}.iqn`, iqn),
  ],
};
/** Sources that are kept as they are. */
const OTHERS = [
  "fc",
  "cinder",
  "cephfs",
  "rbd",
  "flexVolume",
  "azureFile",
  "azureDisk",
  "awsElasticBlockStore",
  "gcePersistentDisk",
  "glusterfs",
  "flocker",
  "quobyte",
  "portworxVolume",
  "photonPersistentDisk",
  "scaleIO",
  "storageos",
  "vsphereVolume",
];

/** A driver's name may be in capitals. */
function driverProblems(field: string, driver: unknown): FieldProblem[] {
  const name = text(driver);
  const faults = subdomainFaults(name.toLowerCase()).map((why) => invalidValue(field, name, why));
  return [...neededText(field, driver), ...faults];
}

function sourceProblems(spec: Json): FieldProblem[] {
  const [first, ...more] = [...Object.keys(SOURCES), ...OTHERS].filter((name) => given(spec, name));
  if (first === undefined) return [required("spec", "must specify a volume type")];
  const others = more.map((name) => forbiddenField(`spec.${name}`, "may not specify more than 1 volume type"));
  const problems = SOURCES[first]?.(record(spec[first]), `spec.${first}`) ?? [];
  if (spec["local"] === undefined || spec["nodeAffinity"] !== undefined) return [...problems, ...others];
  return [...problems, ...others, required("spec.nodeAffinity", "Local volume requires node affinity")];
}

function affinityProblems({ nodeAffinity: affinity }: Json): FieldProblem[] {
  if (!isRecord(affinity)) return [];
  const field = "spec.nodeAffinity.required";
  if (!isRecord(affinity["required"])) return [required(field, "must specify required node constraints")];
  return nodeSelectorProblems(affinity["required"], field);
}

/** What is wrong with the spec of a PersistentVolume. */
export function volumeProblems(spec: Json): FieldProblem[] {
  const reclaim = "spec.persistentVolumeReclaimPolicy";
  const { persistentVolumeReclaimPolicy: policy, accessModes: modes } = spec;
  const problems = [
    ...modesProblems("spec.accessModes", modes, ACCESS_MODES),
    ...aloneProblems("spec.accessModes", modes),
    ...capacityProblems(record(spec["capacity"])),
    ...supported(reclaim, policy, ["Delete", "Recycle", "Retain"]),
    ...affinityProblems(spec),
    ...sourceProblems(spec),
  ];
  if (policy === "Recycle" && at(spec, "hostPath", "path") === "/") {
    problems.push(forbiddenField(reclaim, "may not be 'recycle' for a hostPath mount of '/'"));
  }
  return [
    ...problems,
    ...classProblems(spec, "storageClassName"),
    ...supported("spec.volumeMode", spec["volumeMode"], VOLUME_MODES),
    ...classProblems(spec, "volumeAttributesClassName"),
  ];
}

/** A claim, in addition to its modes and its size. */
export function claimProblems(spec: Json): FieldProblem[] {
  return [
    ...aloneProblems("spec.accessModes", spec["accessModes"]),
    ...selectorProblems("spec.selector", spec["selector"]),
    ...classProblems(spec, "storageClassName"),
    ...supported("spec.volumeMode", spec["volumeMode"], VOLUME_MODES),
    ...classProblems(spec, "volumeAttributesClassName"),
  ];
}

/** What of a volume's source is immutable. */
export function volumeUpdateProblems(object: KubeObject, old: KubeObject): FieldProblem[] {
  const source = (o: KubeObject): Json => {
    const spec = record(fields(o)["spec"]);
    return Object.fromEntries([...Object.keys(SOURCES), ...OTHERS].map((name) => [name, spec[name]]));
  };
  const problems: FieldProblem[] = [];
  const why = "spec.persistentvolumesource is immutable after creation";
  if (!same(source(object), source(old))) problems.push(forbiddenField("spec.persistentvolumesource", why));
  const mode = at(object, "spec", "volumeMode");
  if (mode === at(old, "spec", "volumeMode")) return problems;
  return [...problems, invalidValue("spec.volumeMode", mode, "field is immutable")];
}

/** Fields of a StorageClass that hold more than a value. */
export function storageClassProblems(object: Json): FieldProblem[] {
  const problems =
    text(object["provisioner"]) === "" ? [] : labelName("provisioner", text(object["provisioner"]).toLowerCase());
  const empty = Object.keys(record(object["parameters"])).filter((key) => key === "");
  problems.push(...empty.map((key) => invalidValue("parameters", key, "field can not be empty.")));
  if (object["volumeBindingMode"] === "") {
    problems.push(notSupported("volumeBindingMode", "", ["Immediate", "WaitForFirstConsumer"]));
  }
  const topologies = each("allowedTopologies", object["allowedTopologies"], (topology, place) =>
    each(`${place}.matchLabelExpressions`, topology["matchLabelExpressions"], (term, field) => {
      const values = texts(term["values"]);
      const needed = values.length === 0 ? [required(`${field}.values`)] : [];
      const each = values.flatMap((value, i) => labelValue(`${field}.values[${i}]`, value));
      return [...needed, ...each, ...labelName(`${field}.key`, text(term["key"]))];
    }),
  );
  return [...problems, ...topologies];
}

/** What is wrong with the spec of a VolumeAttachment. */
export function attachmentProblems(spec: Json): FieldProblem[] {
  const attacher = text(spec["attacher"]);
  const { persistentVolumeName: name, inlineVolumeSpec: inline } = record(spec["source"]);
  const isOne = (name === undefined) !== (inline === undefined);
  const why = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  return [
    ...neededText("spec.attacher", attacher),
    ...(isOne ? [] : [required("spec.source", why)]),
    ...(isOne && name === ""
      ? [required("spec.source.persistentVolumeName", "must specify non empty persistentVolumeName")]
      : []),
    ...dnsName("spec.nodeName", text(spec["nodeName"])),
    ...driverProblems("spec.attacher", attacher),
  ];
}

const SHORTEST_TOKEN = 600;
const LONGEST_TOKEN = 2 ** 32;

/** What is wrong with a CSIDriver's life cycle modes, and with the tokens it requests. */
export function driverSpecProblems(spec: Json): FieldProblem[] {
  const modes = texts(spec["volumeLifecycleModes"]).flatMap((mode) =>
    supported("spec.volumeLifecycleModes", mode, ["Persistent", "Ephemeral"]),
  );
  const audiences = new Set<string>();
  const tokens = records(spec["tokenRequests"]).flatMap((token, i) => {
    const field = `spec.tokenRequests[${i}]`;
    const { expirationSeconds: seconds } = token;
    const audience = text(token["audience"]);
    const problems = audiences.has(audience) ? [duplicate(`${field}.audience`, audience)] : [];
    audiences.add(audience);
    const place = `${field}.expirationSeconds`;
    if (typeof seconds !== "number") return problems;
    if (seconds < SHORTEST_TOKEN) {
      problems.push(invalidValue(place, seconds, "may not specify a duration less than 10 minutes"));
    }
    if (seconds > LONGEST_TOKEN) {
      problems.push(invalidValue(place, seconds, "may not specify a duration larger than 2^32 seconds"));
    }
    return problems;
  });
  return [...tokens, ...modes];
}
