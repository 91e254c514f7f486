import type { Generator } from "../input.ts";
import { pathOf, PLURALS } from "../objects.ts";
import type { Random } from "../random.ts";
import { hostileText } from "../values.ts";

const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

/** Bodies in protobuf: a valid wrapper around random, deep and large messages, and damaged wrappers. */
export const protobuf: Generator = (random) => {
  const [apiVersion, kind, plural] = random.pick([
    ["v1", "ConfigMap", "configmaps"],
    ["v1", "Pod", "pods"],
    ["apps/v1", "Deployment", "deployments"],
    ["v1", "DeleteOptions", random.pick(PLURALS)],
  ] as const);
  const type = Buffer.concat([field(1, Buffer.from(apiVersion)), field(2, Buffer.from(kind))]);
  const unknown = Buffer.concat([field(1, type), field(2, message(random))]);
  const whole = Buffer.concat([MAGIC, unknown]);
  const body = random.chance(0.8) ? whole : damaged(random, whole);
  const method = random.pick(["POST", "POST", "PUT", "DELETE"]);
  const path = method === "POST" ? pathOf(plural) : pathOf(plural, "fixed");
  return [
    { method, path: `${path}?dryRun=All`, headers: { "content-type": "application/vnd.kubernetes.protobuf" }, body },
  ];
};

function message(random: Random): Buffer {
  const n = random.size(30_000);
  const metadata = (rest: Buffer): Buffer => field(1, Buffer.concat([field(1, Buffer.from("fuzz")), rest]));
  const pair = (i: number): Buffer => Buffer.concat([field(1, Buffer.from(`k${i}`)), field(2, Buffer.from("v"))]);
  const many = (item: (i: number) => Buffer): Buffer => Buffer.concat(Array.from({ length: n }, (_, i) => item(i)));
  return random.pick<() => Buffer>([
    () => Buffer.concat([metadata(Buffer.alloc(0)), many((i) => field(2, pair(i)))]),
    () => Buffer.concat([metadata(Buffer.alloc(0)), many(() => field(2, pair(0)))]),
    () => metadata(many((i) => field(11, pair(i)))),
    () => metadata(many((i) => field(14, Buffer.from(`f${i}`)))),
    () => Buffer.concat([metadata(Buffer.alloc(0)), deep(random, Math.min(n, 5000))]),
    () =>
      Buffer.concat([
        metadata(Buffer.alloc(0)),
        field(
          2,
          many(() => field(2, Buffer.alloc(0))),
        ),
      ]),
    () =>
      Buffer.concat([
        metadata(Buffer.alloc(0)),
        field(
          2,
          many((i) => field(1 + (i % 3), field(1, Buffer.alloc(0)))),
        ),
      ]),
    () => many(() => Buffer.from([0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01])),
    () => Buffer.alloc(n, random.pick([0x00, 0xff, 0x0a, 0x0b, 0x80, 0x12])),
    () => metadata(field(5, Buffer.from(hostileText(random)))),
    () => Buffer.from(Array.from({ length: Math.min(n, 5000) }, () => random.below(256))),
  ])();
}

function deep(random: Random, levels: number): Buffer {
  const number = random.pick([1, 2, 3]);
  let inner: Buffer = Buffer.alloc(0);
  for (let level = 0; level < levels; level += 1) inner = field(number, inner);
  return inner;
}

function damaged(random: Random, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  for (let i = random.between(1, 8); i > 0; i -= 1) copy[random.below(copy.length)] = random.below(256);
  return random.chance(0.5) ? copy : copy.subarray(0, random.below(copy.length));
}

/** A length-delimited field. */
function field(number: number, content: Buffer): Buffer {
  return Buffer.concat([varint((number << 3) | 2), varint(content.length), content]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  do {
    bytes.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    rest >>>= 7;
  } while (rest > 0);
  return Buffer.from(bytes);
}
