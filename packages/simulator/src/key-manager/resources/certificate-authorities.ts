import type { Service } from "../../kernel/interface.ts";
import { keyError } from "../model.ts";

/** Certificate authorities need a plug-in, which is off. */
export function mountCertificateAuthorities(app: Service["app"]): void {
  app.all("/v1/cas", () => {
    throw keyError(404, "Not Found", "");
  });
}
