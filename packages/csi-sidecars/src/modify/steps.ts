/** What is done for one claim whose VolumeAttributesClass is not yet its volume's. */
export type Step =
  | { readonly type: "begin"; readonly target: string }
  /** Change the volume, and record in both objects that it has the class. */
  | { readonly type: "modify"; readonly target: string; readonly parameters: Readonly<Record<string, string>> };
