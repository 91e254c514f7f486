import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import type { Context, Json } from "../interface.ts";
import { define, definition } from "./custom-resource.ts";
import { at, eventually } from "./shorthands.ts";

const DAY = 86_400_000;

/** A conversion webhook that a case runs itself, on loopback TLS. */
export interface Converter {
  readonly url: string;
  /** Base64, as CRDs carry it. */
  readonly caBundle: string;
  /** Every ConversionReview that came. */
  readonly reviews: Json[];
  /** Answers otherwise from now on: gets the review's request and the right response. */
  answer: (request: Json, response: Json) => unknown;
  readonly close: () => Promise<void>;
}

/** Starts a webhook that converts as `convert` says. */
export async function startConverter(convert: (object: Json, apiVersion: string) => Json): Promise<Converter> {
  const authority = await createAuthority({ commonName: "converters", lifetime: DAY });
  const { certificate: cert, key } = await issueCertificate(authority, {
    commonName: "converter",
    ipAddresses: ["127.0.0.1"],
    usages: ["server"],
    lifetime: DAY,
  });
  const converter = { reviews: [] as Json[], answer: (_request: Json, response: Json): unknown => response };
  const server = createServer({ cert, key }, (request, response) => {
    let text = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      const review = JSON.parse(text) as Json & {
        request: { uid: string; desiredAPIVersion: string; objects: Json[] };
      };
      converter.reviews.push(review);
      const { uid, desiredAPIVersion, objects } = review.request;
      const convertedObjects = objects.map((object) => convert(structuredClone(object), desiredAPIVersion));
      const right = { uid, result: { status: "Success" }, convertedObjects };
      const { apiVersion, kind } = review;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ apiVersion, kind, response: converter.answer(review.request, right) }));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return Object.assign(converter, {
    url: `https://127.0.0.1:${port}/convert`,
    caBundle: Buffer.from(authority.certificate).toString("base64"),
    close: () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  });
}

const V1 = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        size: { type: "string" },
        colour: { type: "string", default: "grey" },
        replicas: { type: "integer" },
      },
    },
    status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  },
};
const V2 = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        length: { type: "integer", minimum: 0 },
        unit: { type: "string", default: "m" },
        paint: { type: "object", properties: { colour: { type: "string" } } },
        replicas: { type: "integer" },
      },
    },
    status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  },
};

/** v1 says `size: "3 m"` and `colour`, v2 `length: 3`, `unit: "m"` and `paint.colour`. */
export function convertGauge(object: Json, apiVersion: string): Json {
  const spec = { ...(object["spec"] as Json | undefined) };
  if (apiVersion.endsWith("/v2")) {
    const [length, unit] = ((spec["size"] as string | undefined) ?? "0 m").split(" ");
    const paint = spec["colour"] === undefined ? {} : { paint: { colour: spec["colour"] } };
    const { size: _size, colour: _colour, ...rest } = spec;
    return { ...object, apiVersion, spec: { ...rest, length: Number(length), unit, ...paint } };
  }
  const colour = at(spec, "paint", "colour");
  const { length, unit, paint: _paint, ...rest } = spec;
  const size = `${String(length as number)} ${String(unit as string)}`;
  return { ...object, apiVersion, spec: { ...rest, size, ...(colour === undefined ? {} : { colour }) } };
}

export interface Gauges {
  readonly group: string;
  readonly converter: Converter;
  readonly path: (version: "v1" | "v2", name?: string) => string;
  readonly gauge: (...about: ["v1" | "v2", string, Json?, Json?]) => Json;
}

/** Defines gauges of a case's own, stored as v1, and hands them to `run`. */
export async function withGauges(c: Context, run: (gauges: Gauges) => Promise<void>, more: Json = {}): Promise<void> {
  const converter = await startConverter(convertGauge);
  try {
    const group = `${c.unique("gauge")}.example.com`;
    await define(c.api, gaugeDefinition(group, converter, more));
    await converting(c, group);
    converter.reviews.length = 0;
    await run({
      group,
      converter,
      path: (version, name) => c.apis(`${group}/${version}`, "gauges", name),
      gauge: (version, name, spec = version === "v1" ? { size: "3 m" } : { length: 3, unit: "m" }, rest = {}) => {
        const { metadata, ...fields } = rest;
        return {
          apiVersion: `${group}/${version}`,
          kind: "Gauge",
          metadata: { name, ...(metadata as Json | undefined) },
          spec,
          ...fields,
        };
      },
    });
  } finally {
    await converter.close();
  }
}

/**
 * A request that meets kube-apiserver while it puts a new CRD in the place of the last may hang for a minute;
 * the next does not.
 */
async function converting(c: Context, group: string): Promise<void> {
  const path = `${c.apis(`${group}/v2`, "gauges")}?dryRun=All`;
  const gauge = {
    apiVersion: `${group}/v2`,
    kind: "Gauge",
    metadata: { name: "probe" },
    spec: { length: 1, unit: "m" },
  };
  await eventually(async () => {
    const timeout = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 1500));
    const answer = await Promise.race([c.api.post(path, gauge), timeout]);
    return answer?.code === 201 ? true : undefined;
  }, "a conversion");
}

export function gaugeDefinition(
  group: string,
  { url, caBundle }: Pick<Converter, "url" | "caBundle">,
  more: Json = {},
): Json & { spec: Json } {
  const scale = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" };
  const versions = [
    {
      name: "v1",
      served: true,
      storage: true,
      schema: { openAPIV3Schema: V1 },
      subresources: { status: {}, scale },
      additionalPrinterColumns: [{ name: "Size", type: "string", jsonPath: ".spec.size" }],
      selectableFields: [{ jsonPath: ".spec.size" }],
    },
    {
      name: "v2",
      served: true,
      storage: false,
      schema: { openAPIV3Schema: V2 },
      subresources: { status: {}, scale },
      additionalPrinterColumns: [{ name: "Length", type: "integer", jsonPath: ".spec.length" }],
      selectableFields: [{ jsonPath: ".spec.length" }],
    },
  ];
  const webhook = { clientConfig: { url, caBundle }, conversionReviewVersions: ["v1"] };
  const conversion = { strategy: "Webhook", webhook };
  return definition("gauges", "Gauge", { group, versions, conversion, ...more });
}
