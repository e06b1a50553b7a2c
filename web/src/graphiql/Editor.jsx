// The tab GraphiQL: the editor, told where the server is, what to open with and where to keep it.
import './workers.js';
import { GraphiQL } from 'graphiql';
import 'graphiql/style.css';
import icon from '../favicon.svg';
import { EMPTY_TAB, EXAMPLES } from './examples.js';
import { fetcher } from './fetcher.js';
import { storage } from './storage.js';

/**
 * GraphiQL shows its "Persist headers" switch but forgets it on reload unless told here.
 * Headers hold tokens, so they stay out of the browser's storage until somebody asks.
 */
const keepsHeaders = storage.getItem('graphiql:shouldPersistHeaders') === 'true';

/** The file's name is relative to this module, not to the page. */
const iconUrl = new URL(icon, import.meta.url).href;

export default function Editor() {
  return (
    <GraphiQL
      fetcher={fetcher}
      storage={storage}
      defaultTabs={EXAMPLES}
      defaultQuery={EMPTY_TAB}
      defaultEditorToolsVisibility="variables"
      shouldPersistHeaders={keepsHeaders}
      showPersistHeadersSettings
      schemaDescription
    >
      <GraphiQL.Logo>
        <a className="phyllo-logo" href="schema.graphql" title="The schema as text">
          <img src={iconUrl} alt="" width="20" height="20" />
          Phyllo
        </a>
      </GraphiQL.Logo>
    </GraphiQL>
  );
}
