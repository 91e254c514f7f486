import { Optional } from "@marcbachmann/cel-js";
import { label1035Faults, labelFaults, subdomainFaults } from "../../syntax/dns.ts";
import { labelValueFaults, qualifiedNameFaults } from "../../syntax/names.ts";
import { matchesFormat } from "../formats.ts";
import type { CelEnvironment } from "./cel-environment.ts";

/** What a name of a format finds wrong with a text. */
type Faults = (text: string) => readonly string[];

class Format {
  readonly name: string;
  readonly faults: Faults;
  constructor(name: string, faults: Faults) {
    this.name = name;
    this.faults = faults;
  }
}
class Formats {}

const TYPE = "kubernetes.NamedFormat";

function matching(format: string, fault: string): Faults {
  return (text) => (matchesFormat(format, text) ? [] : [fault]);
}

/** A prefix for generated names may end in a dash. */
function prefix(faults: Faults): Faults {
  return (text) => faults(text.length > 1 && text.endsWith("-") ? `${text.slice(0, -1)}a` : text);
}

const FORMATS: readonly (readonly [string, Faults])[] = [
  ["dns1123Label", labelFaults],
  ["dns1123Subdomain", subdomainFaults],
  ["dns1035Label", label1035Faults],
  ["dns1123LabelPrefix", prefix(labelFaults)],
  ["dns1123SubdomainPrefix", prefix(subdomainFaults)],
  ["dns1035LabelPrefix", prefix(label1035Faults)],
  ["qualifiedName", qualifiedNameFaults],
  ["labelValue", labelValueFaults],
  ["uri", matching("uri", "invalid URI")],
  ["uuid", matching("uuid", "does not match the UUID format")],
  ["byte", matching("byte", "invalid base64")],
  ["date", matching("date", "invalid date")],
  ["datetime", matching("date-time", "invalid datetime")],
];

/** Kubernetes' format library: format.dns1123Label().validate(text) gives nothing, or what is wrong. */
export function registerNamedFormats(environment: CelEnvironment): void {
  environment.registerType(TYPE, { ctor: Format, fields: {} });
  environment.registerType("kubernetes.Formats", Formats);
  environment.registerConstant("format", "kubernetes.Formats", new Formats());
  const known = new Map(FORMATS.map(([name, faults]) => [name, new Format(name, faults)]));
  for (const [name, format] of known) {
    environment.registerFunction(`kubernetes.Formats.${name}(): ${TYPE}`, () => format);
  }
  environment
    .registerFunction(`kubernetes.Formats.named(string): optional<${TYPE}>`, (_: Formats, name: string) => {
      const format = known.get(name);
      return format ? Optional.of(format) : Optional.none();
    })
    .registerFunction(`${TYPE}.validate(string): optional<list<string>>`, ({ faults }: Format, text: string) => {
      const found = faults(text);
      return found.length === 0 ? Optional.none() : Optional.of([...found]);
    })
    .registerOperator(`${TYPE} == ${TYPE}`, (a: Format, b: Format) => a.name === b.name);
}
