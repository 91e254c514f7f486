import type { KubeObject } from "@causeway/kubernetes";
import type { Kind } from "../kind.ts";
import { convertObject } from "./conversion.ts";
import { isJson, valueAt, type Json } from "../lenses/json.ts";

/**
 * The response to a ConversionReview (apiextensions.k8s.io/v1): every object in the desired version, or a failure with
 * the reason.
 * @throws Error if the body is no ConversionReview
 */
export function reviewConversion(kinds: readonly Kind<KubeObject>[], body: unknown): Json {
  if (!isJson(body) || body["kind"] !== "ConversionReview" || !isJson(body["request"])) {
    throw new Error("the body is no ConversionReview of apiextensions.k8s.io/v1");
  }
  const { uid, desiredAPIVersion, objects } = body["request"];
  const given = Array.isArray(objects) ? objects : [];
  const response = (fields: Json): Json => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "ConversionReview",
    response: { uid, ...fields },
  });
  try {
    const convertedObjects = given.map((object) => convertObject(kinds, checked(object), String(desiredAPIVersion)));
    return response({ result: { status: "Success" }, convertedObjects });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return response({ result: { status: "Failure", message }, convertedObjects: [] });
  }
}

function checked(object: unknown): KubeObject {
  const named = isJson(object) && typeof object["apiVersion"] === "string" && isJson(valueAt(object, "metadata"));
  if (!named) throw new Error("an object without apiVersion or metadata cannot be converted");
  return object as unknown as KubeObject;
}
