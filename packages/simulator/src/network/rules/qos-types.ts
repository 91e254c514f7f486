import { integer, oneOf, shown, type Attributes } from "../kit/attributes.ts";
import { invalidValue } from "../errors.ts";

const largest = 2_147_483_647;

function amount(least: number) {
  return (value: unknown, field: string): number => {
    const number = integer(value);
    if (number < least) throw invalidValue(field, `'${number}' is too small - must be at least '${least}'.`);
    if (number > largest) throw invalidValue(field, `'${number}' is too large - must be no larger than '${largest}'.`);
    return number;
  };
}

/** Code points that DSCP marking takes (RFC 2474). */
const marks = [0, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 46, 48, 56];

function mark(value: unknown, field: string): number {
  const number = integer(value);
  if (!marks.includes(number)) throw invalidValue(field, `${shown(value)} is not in valid_values.`);
  return number;
}

const direction = { read: oneOf("egress", "ingress") } as const;
const anyDirection = { read: oneOf("any", "egress", "ingress") } as const;

/** A kind of QoS rule: its fields, and what those not given are. */
export interface QosType {
  readonly attributes: Attributes;
  readonly defaults: Readonly<Record<string, string | number>>;
  /** False if OVN cannot do it: such policies are refused where they are used. */
  readonly supported: boolean;
}

/** The kinds of QoS rules, by the name that their paths and `rule_types` have. */
export const qosTypes: Readonly<Record<string, QosType>> = {
  bandwidth_limit: {
    attributes: {
      max_kbps: { read: amount(0), required: true },
      max_burst_kbps: { read: amount(0) },
      direction,
    },
    defaults: { max_burst_kbps: 0, direction: "egress" },
    supported: true,
  },
  dscp_marking: { attributes: { dscp_mark: { read: mark, required: true } }, defaults: {}, supported: true },
  minimum_bandwidth: {
    attributes: { min_kbps: { read: amount(0), required: true }, direction },
    defaults: { direction: "egress" },
    supported: true,
  },
  minimum_packet_rate: {
    attributes: { min_kpps: { read: amount(0), required: true }, direction: anyDirection },
    defaults: { direction: "egress" },
    supported: false,
  },
  packet_rate_limit: {
    attributes: { max_kpps: { read: amount(0), required: true }, max_burst_kpps: { read: amount(0) }, direction },
    defaults: { max_burst_kpps: 0, direction: "egress" },
    supported: false,
  },
};

const range = (name: string) => ({
  parameter_name: name,
  parameter_type: "range",
  parameter_values: { start: 0, end: largest },
});
const choices = (name: string, values: readonly (string | number)[]) => ({
  parameter_name: name,
  parameter_type: "choices",
  parameter_values: values,
});
const directions = choices("direction", ["egress", "ingress"]);

/** What OVN's driver says that it can do, by type. */
export const driverParameters: Readonly<Record<string, readonly object[]>> = {
  bandwidth_limit: [range("max_kbps"), range("max_burst_kbps"), directions],
  dscp_marking: [choices("dscp_mark", marks)],
  minimum_bandwidth: [range("min_kbps"), choices("direction", ["egress"])],
};
