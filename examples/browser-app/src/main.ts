// Everybody reads the reviews of products. Users write their own.
import { request, subscribe, useToken } from './phyllo';

const PROVIDER = import.meta.env.VITE_PROVIDER ?? 'http://127.0.0.1:8090';

interface Product {
  name: string;
  reviews: Record<string, string>;
}

const LIST = '{ documents(collection: "products", first: 50) { nodes { key } } }';
const FOLLOW = 'subscription ($id: ID!) { document(collection: "products", id: $id) { value } }';
const REVIEW = `mutation ($id: ID!, $path: Path!, $text: JSON) {
  replaceDocument(collection: "products", id: $id, path: $path, document: $text) { version }
}`;

/** The `sub` of the user's token. */
let user: string | undefined;

function element<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

function say(text: string): void {
  element('message').textContent = text;
}

async function signIn(name: string): Promise<void> {
  const response = await fetch(`${PROVIDER}/sign-in`, { method: 'POST', body: JSON.stringify({ name }) });
  const { token } = await response.json();
  useToken(token);
  user = name;
  element('user').textContent = `Signed in as ${name}`;
}

/** A path as a list: a name of digits is the name of a member, never an index. */
async function review(id: string, author: string, text: string): Promise<void> {
  await request(REVIEW, { id, path: ['reviews', author], text });
  say('Stored');
}

function show(id: string, section: HTMLElement, { name, reviews }: Product): void {
  section.querySelector('h2')!.textContent = name;
  const items = Object.entries(reviews).map(([author, text]) => {
    const item = document.createElement('li');
    item.textContent = `${author}: ${text}`;
    return item;
  });
  section.querySelector('ul')!.replaceChildren(...items);
  section.dataset.id = id;
}

function open(id: string): void {
  const section = document.createElement('section');
  section.innerHTML = `<h2></h2><ul></ul>
    <form><label>Author <input name="author" /></label> <label>Review <input name="text" /></label> <button>Save</button></form>`;
  section.querySelector('form')!.addEventListener('submit', (event) => {
    event.preventDefault();
    const fields = new FormData(event.target as HTMLFormElement);
    // The server decides, not the form: it refuses the review of somebody else.
    const author = String(fields.get('author') || user);
    review(id, author, String(fields.get('text'))).catch((error: Error) => say(error.message));
  });
  element('products').append(section);
  subscribe<{ document: { value: Product } | null }>(FOLLOW, { id }, ({ document: product }) => {
    if (product) show(id, section, product.value);
  });
}

element<HTMLFormElement>('sign-in').addEventListener('submit', (event) => {
  event.preventDefault();
  const name = String(new FormData(event.target as HTMLFormElement).get('name'));
  signIn(name).catch((error: Error) => say(error.message));
});

request<{ documents: { nodes: { key: string }[] } }>(LIST)
  .then(({ documents }) => documents.nodes.forEach(({ key }) => open(key)))
  .catch((error: Error) => say(error.message));
