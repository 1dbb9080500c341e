import type { Product } from "./product.ts";
import { modelRequests } from "./scripted-model.ts";

/** Makes a first model call: it loads the model's SDK, for which tests would have to wait on a busy machine. */
export async function loadModel(product: Product): Promise<void> {
  const session = await product.session([{ text: ["ok"] }]);
  await session.prompt("go");
  while ((await modelRequests(session.model)).length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
