export function builtHelpers(): Map<string, string>
