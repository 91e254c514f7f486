import { CausewayError, messageOf } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { fields, isRecord } from "../json/json.ts";
import { apiVersionOf } from "../contract/resource.ts";
import type { Converter } from "../contract/converter.ts";
import { changedIdentity, withMetadataOf } from "./metadata.ts";
import type { KindConversion, Spoke } from "../contract/converter.ts";

/** The converter that functions of this process make. */
export function registeredConverter({ group, kind, hub, spokes }: KindConversion): Converter {
  const hubVersion = apiVersionOf(group, hub);
  const step = (object: KubeObject, apiVersion: string, by: (object: KubeObject) => KubeObject): KubeObject => {
    const given = by(structuredClone(object));
    if (!isRecord(given)) throw refusal(kind, apiVersion, "it gave no object");
    const after = { ...fields(given), apiVersion };
    const changed = changedIdentity(object, after);
    if (changed !== undefined) throw refusal(kind, apiVersion, changed);
    return withMetadataOf(object, after);
  };
  const spokeOf = (apiVersion: string): Spoke => {
    const name = apiVersion.slice(apiVersion.indexOf("/") + 1);
    const spoke = Object.hasOwn(spokes, name) ? spokes[name] : undefined;
    if (spoke === undefined) throw refusal(kind, apiVersion, "no conversion of this version is registered");
    return spoke;
  };
  const one = (object: KubeObject, apiVersion: string): KubeObject => {
    const atHub =
      object.apiVersion === hubVersion ? object : step(object, hubVersion, spokeOf(object.apiVersion).toHub);
    return apiVersion === hubVersion ? atHub : step(atHub, apiVersion, spokeOf(apiVersion).fromHub);
  };
  return {
    convert: (objects, apiVersion) =>
      objects.map((object) => {
        try {
          return one(object, apiVersion);
        } catch (cause) {
          if (cause instanceof CausewayError) throw cause;
          throw refusal(kind, apiVersion, messageOf(cause), cause);
        }
      }),
  };
}

// The cause is the fourth thing a refusal may have, and most have none.
function refusal(...[kind, apiVersion, why, cause]: [string, string, string, unknown?]): CausewayError {
  return new CausewayError("APISERVER_CONVERSION_FAILED", `${kind} cannot be converted to ${apiVersion}: ${why}`, {
    hint: "Correct the conversion that is registered for this kind.",
    ...(cause === undefined ? {} : { cause }),
  });
}
