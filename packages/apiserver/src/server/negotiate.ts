import { apiError } from "../errors/status.ts";

/** One media type of an Accept header. */
interface Form {
  readonly type: string;
  readonly subtype: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly weight: number;
}

/** The form that a client takes and this server has. */
export interface Chosen {
  readonly yaml: boolean;
  readonly protobuf: boolean;
  /** Table, PartialObjectMetadata or PartialObjectMetadataList of meta.k8s.io, or "". */
  readonly as: string;
  /** v1 or v1beta1 of meta.k8s.io. */
  readonly version: string;
}

const PLAIN: Chosen = { yaml: false, protobuf: false, as: "", version: "v1" };
const TRANSFORMS = ["Table", "PartialObjectMetadata", "PartialObjectMetadataList"];
const VERSIONS = ["v1", "v1beta1"];
const TYPES = "application/json, application/yaml, application/vnd.kubernetes.protobuf";

function formOf(text: string): Form {
  const [range = "", ...rest] = text.split(";").map((part) => part.trim());
  const [type = "", subtype = ""] = range.toLowerCase().split("/");
  const parameters = Object.fromEntries(rest.map((part) => part.split("=", 2).map((p) => p.trim())));
  const weight = Number(parameters["q"] ?? 1);
  return { type, subtype, parameters, weight: Number.isNaN(weight) ? 1 : weight };
}

/**
 * Chooses by the Accept header, in order of weight; the transforms are those of resources. undefined when there is
 * nothing to choose.
 */
export function chosenForm(accept: string, { tables = true } = {}): Chosen | undefined {
  if (accept.trim() === "") return PLAIN;
  const forms = accept.split(",").map(formOf);
  for (const form of forms.toSorted((a, b) => b.weight - a.weight)) {
    const chosen = offered(form);
    if (chosen && (tables || chosen.as !== "Table")) return chosen;
  }
  return undefined;
}

function offered({ type, subtype, parameters }: Form): Chosen | undefined {
  const isAny = type === "*" || (type === "application" && subtype === "*");
  const yaml = type === "application" && subtype === "yaml";
  const protobuf = type === "application" && subtype === "vnd.kubernetes.protobuf";
  if (!isAny && !yaml && !protobuf && !(type === "application" && subtype === "json")) return undefined;
  const { as = "", g = "", v = "" } = parameters;
  if (as === "") return { ...PLAIN, yaml, protobuf };
  if (g === "apidiscovery.k8s.io") return PLAIN;
  if (g !== "meta.k8s.io" || !TRANSFORMS.includes(as) || !VERSIONS.includes(v)) return undefined;
  return { yaml, protobuf, as, version: v };
}

/** 406, in kube-apiserver's two wordings: for a form it does not know, and for a transform it does not make. */
export function notAcceptable(accept: string): Error {
  const known = accept
    .split(",")
    .map(formOf)
    .filter((f) => /^(json|yaml|vnd\.kubernetes\.protobuf|\*)$/.test(f.subtype));
  if (known.some((form) => form.parameters["as"] !== undefined)) {
    return apiError(406, "NotAcceptable", `only the following media types are accepted: ${TYPES}`);
  }
  return apiError(406, "NotAcceptable", `406: Not Acceptable\n\nAvailable representations: ${TYPES}`, {});
}

/** A list was requested as one object, or one object as a list. */
export function refuseWrongNumber(
  accept: string,
  { kind, group, isList }: { kind: string; group: string; isList: boolean },
): void {
  const { as } = chosenForm(accept) ?? PLAIN;
  const type = `*${group.split(".")[0] || "core"}.${kind}${isList ? "List" : ""}`;
  if (isList && as === "PartialObjectMetadata") {
    const why = `you requested PartialObjectMetadata, but the requested object is a list (${type})`;
    throw apiError(406, "NotAcceptable", why);
  }
  if (!isList && as === "PartialObjectMetadataList") {
    const why = `you requested PartialObjectMetadataList, but the requested object is not a list (${type})`;
    throw apiError(406, "NotAcceptable", why);
  }
}
