import { canonicalJson } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import type { MaybePromise } from "../json/maybe-promise.ts";
import type { Call } from "../contract/call.ts";
import type { OtherForms } from "../contract/call.ts";

/**
 * Thrown where a form is wanted that a webhook has to be called for; `ask` does so, and then the same may be tried
 * again.
 */
class WantsForm extends Error {
  readonly ask: () => Promise<void>;
  constructor(ask: () => Promise<void>) {
    super("a conversion webhook has to be called");
    this.ask = ask;
  }
}

/** An object in another version, for finding out who owns what of it. */
export function otherForm({ resource, otherForms }: Call, object: KubeObject, apiVersion: string): KubeObject {
  const { forms } = resource;
  if (!forms || object.apiVersion === apiVersion) return object;
  if (forms.local) {
    const form = forms.converted(object, apiVersion);
    return form instanceof Promise ? object : form;
  }
  if (otherForms?.waits !== true) return object;
  const key = `${apiVersion} ${canonicalJson(object)}`;
  const known = otherForms.known.get(key);
  if (known) return known;
  throw new WantsForm(async () => void otherForms.known.set(key, await forms.converted(object, apiVersion)));
}

const MOST = 50;

/** Runs a step that may want other forms, again and again until it has all that it wants. */
export async function withOtherForms<T>(otherForms: OtherForms, step: () => MaybePromise<T>): Promise<T> {
  otherForms.waits = true;
  for (let asked = 0; ; asked += 1) {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof WantsForm) || asked === MOST) throw error;
      await error.ask();
    }
  }
}
