/**
 * Writes src/wire/{core,group,definition}-tables.generated.ts: which fields the built-in kinds have, with their types
 * and protobuf numbers. Run: node packages/apiserver/scripts/wire-tables.ts DIR, where DIR/GROUP/types.go are the
 * published Go types of k8s.io/api (GROUP/v1; autoscaling/v2 as DIR/autoscaling2), as DIR/meta of k8s.io/apimachinery
 * (pkg/apis/meta/v1) and, as DIR/definition, of k8s.io/apiextensions-apiserver (pkg/apis/apiextensions/v1: types.go and
 * types_jsonschema.go, one after the other).
 */
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Where reading starts; what these refer to comes along. */
const ROOTS = [
  "core.Namespace core.Secret core.ConfigMap core.Event core.Node core.Pod core.Service core.Endpoints core.ServiceAccount",
  "core.PersistentVolume core.PersistentVolumeClaim core.Binding apps.Deployment apps.ReplicaSet apps.StatefulSet apps.DaemonSet",
  "batch.Job authentication.TokenReview authentication.TokenRequest authentication.SelfSubjectReview",
  "authorization.SelfSubjectAccessReview authorization.SubjectAccessReview authorization.LocalSubjectAccessReview",
  "authorization.SelfSubjectRulesReview autoscaling.Scale certificates.CertificateSigningRequest coordination.Lease",
  "discovery.EndpointSlice events.Event policy.Eviction rbac.Role rbac.ClusterRole rbac.RoleBinding rbac.ClusterRoleBinding",
  "scheduling.PriorityClass storage.StorageClass meta.DeleteOptions policy.PodDisruptionBudget networking.NetworkPolicy",
  "networking.Ingress networking.IngressClass batch.CronJob apps.ControllerRevision storage.CSIDriver storage.CSINode",
  "storage.VolumeAttachment core.LimitRange core.ResourceQuota core.PodTemplate core.ReplicationController",
  "autoscaling.HorizontalPodAutoscaler autoscaling2.HorizontalPodAutoscaler storage.CSIStorageCapacity",
  "storage.VolumeAttributesClass node.RuntimeClass networking.IPAddress networking.ServiceCIDR flowcontrol.FlowSchema",
  "flowcontrol.PriorityLevelConfiguration admissionregistration.MutatingWebhookConfiguration",
  "admissionregistration.ValidatingWebhookConfiguration admissionregistration.ValidatingAdmissionPolicy",
  "admissionregistration.ValidatingAdmissionPolicyBinding resource.DeviceClass resource.ResourceClaim",
  "resource.ResourceClaimTemplate resource.ResourceSlice definition.CustomResourceDefinition",
]
  .join(" ")
  .split(" ");

const BASIC: Readonly<Record<string, string>> = {
  string: "string",
  bool: "bool",
  int32: "int32",
  int64: "int64",
  int: "int32",
  float64: "double",
  "[]byte": "bytes",
  "metav1.Time": "Time",
  Time: "Time",
  "metav1.MicroTime": "MicroTime",
  MicroTime: "MicroTime",
  "metav1.Duration": "Duration",
  "resource.Quantity": "Quantity",
  "intstr.IntOrString": "IntOrString",
  "runtime.RawExtension": "Raw",
  FieldsV1: "Fields",
  "types.UID": "string",
  "types.NodeName": "string",
  // Parts of schemas that are JSON of one form or another.
  JSON: "Json",
  JSONSchemaPropsOrArray: "SchemaOrArray",
  JSONSchemaPropsOrBool: "SchemaOrBool",
  JSONSchemaPropsOrStringArray: "SchemaOrStrings",
};
const PACKAGES: Readonly<Record<string, string>> = { metav1: "meta", v1: "core", corev1: "core", apiv1: "core" };

const dir = process.argv[2] ?? ".";
const structs = new Map<string, string[]>();
const aliases = new Map<string, string>();
const opaque = new Set<string>();
for (const group of readdirSync(dir)) read(group, readFileSync(join(dir, group, "types.go"), "utf8"));
// The one list with a name of its own whose items are in the message that has it.
opaque.delete("definition.ValidationRules");

const lines: string[] = [];
const seen = new Set<string>();
const wanted = [...ROOTS];
for (const name of wanted) {
  if (seen.has(name)) continue;
  seen.add(name);
  const body = structs.get(name);
  if (!body) throw new Error(`no struct ${name}`);
  lines.push(`  "${name}": "${fieldsOf(name.split(".")[0] ?? "", body).join(" ")}",`);
}
lines.sort();
const header = `// Written by scripts/wire-tables.ts from the published Kubernetes API types. Do not edit.
// struct: "name=number:type…"; [] list, {} map of strings, ~ part of the struct itself,
// * a pointer: absent differs from its zero value, ! written even when empty.
`;
const isCore = (line: string): boolean => /^ {2}"(core|meta)\./.test(line);
write("core-tables.generated.ts", "CORE_TABLES", lines.filter(isCore));
const isDefinition = (line: string): boolean => line.startsWith('  "definition.');
write("definition-tables.generated.ts", "DEFINITION_TABLES", lines.filter(isDefinition));
write(
  "group-tables.generated.ts",
  "GROUP_TABLES",
  lines.filter((line) => !isCore(line) && !isDefinition(line)),
);

function write(file: string, name: string, entries: readonly string[]): void {
  const text = `${header}\nexport const ${name}: Readonly<Record<string, string>> = {\n${entries.join("\n")}\n};\n`;
  writeFileSync(new URL(`../src/wire/${file}`, import.meta.url), text);
}

function read(group: string, source: string): void {
  for (const [, name = "", body = ""] of source.matchAll(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm)) {
    structs.set(`${group}.${name}`, body.split("\n"));
  }
  for (const [, name = ""] of source.matchAll(/^type (\w+) struct ?\{\}$/gm)) structs.set(`${group}.${name}`, []);
  for (const [, name = "", target = ""] of source.matchAll(/^type (\w+) ((?:\[\]|map\[)?[\w.\]]+)$/gm)) {
    aliases.set(`${group}.${name}`, target);
    // A list with a name of its own is a message with one field, "items".
    if (target.startsWith("[]")) opaque.add(`${group}.${name}`);
  }
}

function fieldsOf(group: string, body: readonly string[]): string[] {
  return body.flatMap((line) => {
    // An object within an object may say what it is; protobuf does not carry that.
    if (/^\s*(metav1\.)?TypeMeta\s/.test(line)) return ["kind=0:string", "apiVersion=0:string"];
    const match = /^\s*(?:(\w+)\s+)?(\*?[\w.[\]*]+)\s+`(.*)`/.exec(line);
    if (!match) return [];
    const [, goName, goType = "", tags = ""] = match;
    const number = /protobuf:"[^,]*,(\d+),/.exec(tags)?.[1];
    if (number === undefined) return [];
    // Fields of alpha types are not served by default, and not known here.
    if (/v1(alpha|beta)\d+\./.test(goType)) return [];
    const json = /json:"([^"]*)"/.exec(tags)?.[1] ?? "";
    const [jsonName = "", ...options] = json.split(",");
    const inline = goName === undefined && jsonName === "";
    const name = inline ? "~" : jsonName;
    const pointer = goType.startsWith("*") ? "*" : "";
    const always = inline || options.includes("omitempty") || options.includes("omitzero") ? "" : "!";
    return [`${name}=${number}:${typeOf(group, goType.replace(/^\*/, ""))}${pointer}${always}`];
  });
}

function typeOf(group: string, goType: string): string {
  const basic = BASIC[goType];
  if (basic) return basic;
  if (goType.startsWith("[]")) return `[]${typeOf(group, goType.slice(2).replace(/^\*/, ""))}`;
  const map = /^map\[[\w.]+\](.+)$/.exec(goType);
  if (map) return `{}${typeOf(group, map[1] ?? "")}`;
  const [a = "", b] = goType.split(".");
  const qualified = b === undefined ? `${group}.${a}` : `${PACKAGES[a] ?? a}.${b}`;
  if (structs.has(qualified)) {
    wanted.push(qualified);
    return qualified;
  }
  const target = aliases.get(qualified);
  if (target === undefined) throw new Error(`what is ${goType} of ${group}?`);
  const resolved = typeOf(qualified.split(".")[0] ?? "", target);
  return opaque.has(qualified) ? `<>${resolved}` : resolved;
}
