/** What is done for one volume whose claim is gone. */
export type Step =
  | { readonly type: "delete-volume"; readonly volumeId: string }
  | { readonly type: "delete-object" }
  | { readonly type: "remove-finalizer" };
