/** A route as a definition names it. */
export interface NamedRoute {
  readonly name: string;
  readonly model: string;
}

/**
 * The routes in the order in which they serve: what is wanted first, by its name or its model, then the others as they
 * are listed. A model that is no route becomes one, under its own id.
 */
export function routeOrder<Route extends NamedRoute>(
  routes: readonly Route[],
  wanted: string | undefined,
  ownRoute: (model: string) => Route,
): Route[] {
  if (wanted === undefined) return [...routes];
  const named = routes.find(({ name }) => name === wanted) ?? routes.find(({ model }) => model === wanted);
  const first = named ?? ownRoute(wanted);
  return [first, ...routes.filter((route) => route !== first)];
}
